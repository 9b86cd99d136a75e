"""The static texts that bodies are deflated with: what most bodies say, so that each need not say it again.

A body names its dictionary by number. A number's bytes never change, since stored bodies need them to be read: a better
dictionary gets the next number. Deflate reaches the end of one with the shortest codes, so the commonest stands last.
"""

from collections.abc import Mapping
from typing import Final

# Common words of facts about a person's work and life; no text of anyone.
_WORDS_1: Final = (
    " because should must always never when after before about between without every only already instead "
    "password secret token account server database table index cache queue service deploy release branch commit test "
    "tests build version config file files code review merge error bug fix issue feature design document report "
    "meeting weekly monday tuesday wednesday thursday friday morning evening customer team manager colleague mail call "
    "prefers uses likes wants needs decided works lives plans learned thinks is allergic to does not use will be "
    "The user's project The team decided to We decided to use The user prefers The user wants The user works at "
    "Python TypeScript JavaScript PostgreSQL Redis Docker Kubernetes GitHub Linux API HTTP JSON SQL AWS "
    "因为应该必须总是从不之后之前关于没有已经改为需要不要可以不能如果就会每天每周周一周二周三周四周五上午下午晚上"
    "密码账号服务器数据库缓存队列接口部署上线发布分支提交测试版本配置文件代码评审合并错误问题修复功能设计文档报告"
    "会议客户团队同事经理邮箱电话地址公司项目负责人截止日期计划学习使用喜欢希望决定认为住在工作过敏"
    "用户的项目团队决定采用我们决定使用用户偏好用户希望用户喜欢用户不喜欢用户在以后都用中文回答"
)

# Canonical JSON of bodies as shared/domain/memory.py writes them, rarer forms first.
_FORMS_1: Final = (
    '{"version":1,"tombstone":true,"at":"2026-","tag":"'
    '{"agent":"reviewer","category":"constraint","content":"'
    '","expires_at":"2027-01-01T00:00:00.000Z","importance":9,"metadata":"{\\"'
    '","prior":["01KB'
    '"],"project":"'
    '","scope":"agent","secrets":[[0,"'
    '"]],"source":"imported","status":"dismissed","tags":["#work","#'
    '{"category":"credential","content":"[secret]'
    '","importance":8,"origin":{},"scope":"user","source":"manual","status":"archived","updated_at":"2026-'
    '{"category":"contact","content":"{"category":"event","content":"{"category":"experience","content":"'
    '{"category":"knowledge","content":"{"category":"decision","content":"{"category":"preference","content":"'
    '","created_at":"2026-12-'
    '.000Z","importance":7,"origin":{"at":"2026-12-'
    '.000Z","model":"rules","quote":"'
    '","session_id":"","task_id":"01K'
    '"},"project":"default","scope":"user","source":"consolidated","status":"active"'
    ',"updated_at":"2026-'
    '"},"scope":"user","source":"manual","status":"active","updated_at":"2026-'
    '"},"project":"","scope":"project","source":"auto","status":"active","updated_at":"2026-'
    '","task_id":"01'
)

DICTIONARIES: Final[Mapping[int, bytes]] = {1: (_WORDS_1 + _FORMS_1).encode()}
CURRENT: Final = 1
