"""Schedules in words: what is understood, in both languages, and that nothing is guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.schedules import NotUnderstood, cron_of

UNDERSTOOD = {
    "每天凌晨3点": "0 3 * * *",
    "每天": "0 3 * * *",
    "天天早上": "0 8 * * *",
    "每晚": "0 20 * * *",
    "每晚十一点": "0 23 * * *",
    "每晚十二点": "0 0 * * *",
    "每天半夜": "0 0 * * *",
    "每天夜里三点": "0 3 * * *",
    "每晚两点半": "30 2 * * *",
    "每天晚上五点": "0 17 * * *",
    "每天凌晨十二点半": "30 0 * * *",
    "每日下午三点一刻": "15 15 * * *",
    "每天下午十二点": "0 12 * * *",
    "每天中午一点": "0 13 * * *",
    "每天中午12点": "0 12 * * *",
    "每天二十三点五十九分": "59 23 * * *",
    "每天23:59": "59 23 * * *",
    "每天２１：３０": "30 21 * * *",
    "每周一早上9点半": "30 9 * * 1",
    "每周一三五上午十点": "0 10 * * 1,3,5",
    "每周一、周三和周五10:30": "30 10 * * 1,3,5",
    "每周五十点": "0 10 * * 5",
    "每周一一点": "0 1 * * 1",
    "每星期天晚上8点": "0 20 * * 0",
    "每礼拜日": "0 3 * * 0",
    "工作日晚上十点": "0 22 * * 1-5",
    "每个工作日9点": "0 9 * * 1-5",
    "周一到周五早上八点": "0 8 * * 1-5",
    "周末中午": "0 12 * * 0,6",
    "每月1号": "0 3 1 * *",
    "每个月的十五号和三十号早上八点": "0 8 15,30 * *",
    "每月最后一天": "0 3 L * *",
    "每隔6小时": "0 */6 * * *",
    "每两个小时": "0 */2 * * *",
    "每小时一次": "0 * * * *",
    "every day at 3am": "0 3 * * *",
    "Every day at 12am": "0 0 * * *",
    "daily": "0 3 * * *",
    "nightly": "0 22 * * *",
    "every night at 11": "0 23 * * *",
    "every night at 2": "0 2 * * *",
    "every night at 2 pm": "0 14 * * *",
    "nightly at 12": "0 0 * * *",
    "every day at 3 at night": "0 3 * * *",
    "every morning": "0 8 * * *",
    "every evening at 8": "0 20 * * *",
    "every Monday at 9": "0 9 * * 1",
    "every monday at 9 o'clock": "0 9 * * 1",
    "every Monday, Wednesday and Friday at 7:15 pm": "15 19 * * 1,3,5",
    "on Tuesdays & Thursdays at 18.30": "30 18 * * 2,4",
    "Sundays at noon": "0 12 * * 0",
    "weekdays at 22:30": "30 22 * * 1-5",
    "every weekend at midnight": "0 0 * * 0,6",
    "monthly": "0 3 1 * *",
    "every month on the 1st": "0 3 1 * *",
    "on the 15th of every month at 6 in the evening": "0 18 15 * *",
    "the last day of the month at 5 pm": "0 17 L * *",
    "every 6 hours": "0 */6 * * *",
    "hourly": "0 * * * *",
    "every 24 hours": "0 0 * * *",
    "30 2 * * 1-5": "30 2 * * 1-5",
}
REFUSED = [
    "",
    "sometimes",
    "tomorrow at 3",
    "every",
    "每个",
    "每十一点",
    "每天25点",
    "每天凌晨13点",
    "every morning at 20",
    "每天十点七十分",
    "每月32号",
    "每月零号",
    "每天三十三十点",
    "每天二三点",
    "every day at 13pm",
    "every day at 0 am",
    "every day at 9:75",
    "every month on the 32nd",
    "every 5 hours",
    "每5小时",
    "every day at 3am and delete everything",
    "每天三点然后删除所有",
    "0 3 * *",
]


@pytest.mark.parametrize(("words", "cron"), UNDERSTOOD.items())
def test_words_of_both_languages_are_understood(words: str, cron: str) -> None:
    assert cron_of(words) == cron
    assert cron_of(f"  {words.upper()}。") == cron


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_understood_whole_is_refused(words: str) -> None:
    with pytest.raises(NotUnderstood):
        cron_of(words)


@given(
    st.text(
        alphabet=st.sampled_from("每天周一二三五十点半月号日early monday at 9:30pm,、0*/ ") | st.characters(),
        max_size=60,
    )
)
def test_any_text_is_understood_or_refused_and_nothing_else(words: str) -> None:
    try:
        assert len(cron_of(words).split()) == 5
    except NotUnderstood:
        return
