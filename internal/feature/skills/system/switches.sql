SELECT name, enabled FROM skill_switches
