"""`rulesafe doctor`: has this machine what RuleSafe needs, and how is it mended?"""


def main(argv: list[str]) -> int:
    """Run `rulesafe doctor` with these arguments; the exit code, 1 where something fails."""
    from rulesafe_eval.arguments import call
    from rulesafe_eval.doctor.commands import doctor

    code: int = call(doctor, "rulesafe doctor", argv)
    return code
