"""Prints a line for each test in Python, as scripts do: "ok - SENTENCE", "not ok - SENTENCE" or
"skip - SENTENCE: REASON". The sentence is the first line of the test's docstring; a test with
parameters adds the first.
"""
import pytest

LINES_SHOWN = 60


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.pluginmanager.unregister(name="terminalreporter")


def pytest_itemcollected(item):
    sentence = item.obj.__doc__.split("\n")[0]
    if hasattr(item, "callspec"):
        sentence += f" ({next(iter(item.callspec.params.values()))})"
    item.user_properties.append(("sentence", sentence))


def pytest_collectreport(report):
    if report.failed:
        print(report.longreprtext)


def pytest_runtest_logreport(report):
    sentence = dict(report.user_properties)["sentence"]
    if report.failed:
        print("not ok -", sentence)
        lines = (report.longreprtext + report.capstdout + report.capstderr).split("\n")
        print("\n".join("#   " + line for line in lines[-LINES_SHOWN:]))
    elif report.skipped and hasattr(report, "wasxfail"):
        print(f"skip - {sentence}: pending: {report.wasxfail}")
    elif report.skipped:
        print(f"skip - {sentence}: {report.longrepr[2]}")
    elif report.when == "call":
        print("ok -", sentence, flush=True)
