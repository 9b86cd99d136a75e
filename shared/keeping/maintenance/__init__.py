"""Maintenance: who is due (`due_owners`), one owner's visit (`tidying`) as its steps see it (`visits`), and the steps of every visit."""
