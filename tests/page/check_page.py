"""Checks a page as text: check_page.py FILE. Prints its contents as JSON.

Elements are closed in order, ids are unique, all references have existing ids, nothing is loaded from
anywhere, scripts are the page's own, its data is JSON.
"""
import html.parser
import json
import re
import sys

VOID = {"meta", "link", "br", "img", "input", "hr"}
LOADING = {"src", "href", "action", "data", "poster", "srcset", "background", "formaction"}


def fail(text):
    print(text)
    sys.exit(1)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.ids, self.references, self.scripts = [], set(), set(), []
        self.tables, self.text, self.titles = [], [], []
        self.policy = self.data = None

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        for name, value in attributes:
            if name.startswith("on"):
                fail(f"a handler in an attribute: {name}={value}")
            if name in LOADING and not value.startswith("data:"):
                fail(f"something is loaded: {name}={value}")
        if "id" in values:
            if values["id"] in self.ids:
                fail(f"an id twice: {values['id']}")
            self.ids.add(values["id"])
        self.references.update((values.get("aria-labelledby") or "").split())
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if tag == "script":
            self.scripts.append((values, ""))
        if tag == "table":
            self.tables.append({"id": values.get("id"), "rows": []})
        if tag == "tr":
            self.tables[-1]["rows"].append([])
        if tag in ("td", "th"):
            self.tables[-1]["rows"][-1].append({**values, "text": ""})
        if "title" in values:
            self.titles.append(values["title"])
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            fail(f"{tag} is closed where it is not open")

    def handle_data(self, data):
        inside = self.stack[-1] if self.stack else ""
        if inside == "script":
            values, text = self.scripts.pop()
            self.scripts.append((values, text + data))
        elif inside == "style":
            if re.search(r"@import|url\(", data):
                fail("the style loads something")
        else:
            self.text.append(data)
            if {"td", "th"} & set(self.stack) and self.tables:
                self.tables[-1]["rows"][-1][-1]["text"] += data


def check_scripts(page):
    nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", page.policy or "")
    if nonce is None or "default-src 'none'" not in page.policy:
        fail(f"the policy is not what it should be: {page.policy}")
    data = None
    for values, text in page.scripts:
        if values.get("type") == "application/json":
            data = json.loads(text)
        elif values.get("nonce") != nonce.group(1) or not text.lstrip().startswith(("/*", '"use')):
            fail(f"a script that is not the page's: {text[:60]}")
    if re.search(r"\b(fetch|XMLHttpRequest|import)\s*\(|innerHTML|document\.write",
                 "".join(text for _, text in page.scripts)):
        fail("a script that loads or makes markup")
    return data


def main():
    with open(sys.argv[1], "rb") as file:
        raw = file.read()
    page = Page()
    page.feed(raw.decode("utf-8"))
    page.close()
    if page.stack:
        fail(f"never closed: {page.stack}")
    if not page.references <= page.ids:
        fail(f"no such id: {page.references - page.ids}")
    data = check_scripts(page)
    text = re.sub(r"\s+", " ", " ".join(page.text))
    print(json.dumps({"bytes": len(raw), "text": text, "titles": page.titles, "data": data,
                      "tables": {t["id"] or str(i): t["rows"] for i, t in enumerate(page.tables)}}))


if __name__ == "__main__":
    main()
