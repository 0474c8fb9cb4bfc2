"""Compares the page's first screen with the report's JSON: check_screen.py PAGE JSON.

PAGE is what check_page.py printed. Shares are rounded as on the page.
"""
import json
import sys


def share(value, decimals):
    if value is None:
        return "-"
    least = 0.001 if decimals else 0.01
    if 0 < value < least:
        return f"< {100 * least:.{decimals}f} %"
    return f"{100 * value:.{decimals}f} %"


def expected(report):
    of, texts = report["efficiency"], []
    if of is not None:
        for name, value in (("parallel efficiency", of["parallel"]), ("load balance", of["load_balance"]),
                            ("serialization", of["serialization"]), ("transfer", of["transfer"])):
            texts.append(f"{name} {share(value, 0)}")
        parts = {name: of[name + "_ns"] for name in ("work", "waiting", "mpi", "ends")}
        whole = sum(value or 0 for value in parts.values())
        words = {"work": "work", "waiting": "waiting for ranks", "ends": "start and end",
                 "mpi": "in MPI" if parts["waiting"] is None else "MPI itself"}
        texts += [f"{words[name]} {share(value / whole, 0)}" for name, value in parts.items() if value is not None]
    return texts + report["summary"]["help"]


def main():
    with open(sys.argv[1], encoding="utf-8") as page, open(sys.argv[2], encoding="utf-8") as file:
        page, report = json.load(page), json.load(file)
    wrong = [text for text in expected(report) if text not in page["text"]]
    rows = [(row[0]["text"], row[2]["text"], row[4]["text"]) for row in page["tables"]["where"][1:]]
    sites = [(site["mpi_function"], share(site["run_share"], 1), site["because"] or "-")
             for site in report["summary"]["sites"]]
    if rows != sites:
        wrong.append(f"{rows} instead of {sites}")
    print(*wrong, sep="\n")
    sys.exit(1 if wrong or not rows else 0)


if __name__ == "__main__":
    main()
