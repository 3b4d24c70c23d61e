"""The demo's agent: a script that does what a coding agent would, mistakes included.

It gets its task in the environment, reads its prompt (with the feedback of a failed attempt) from a file, edits
the files of its workspace, and knows nothing of the other agents.
"""

import os
import pathlib
import re
import sys
import time

SECONDS = float(sys.argv[1])
STEPS = ("reading the prompt", "reading the code", "thinking")
TASK = os.environ["INTERLOCK_TASK_ID"]
PROMPT = pathlib.Path(os.environ["INTERLOCK_PROMPT_FILE"]).read_text()
HAS_FEEDBACK = "## What happened to attempt" in PROMPT


def write(path, text):
    print(f"writing {path}", flush=True)
    pathlib.Path(path).write_text(text)


def add_line(path, after, line):
    """Put a line behind the first line that starts with `after`."""
    text = pathlib.Path(path).read_text()
    write(path, re.sub(rf"^({re.escape(after)}.*)$", lambda m: f"{m[1]}\n{line}", text, count=1, flags=re.M))


def test(name, imports, body):
    write(
        f"tests/test_{name}.py",
        f"import unittest\n\n{imports}\n\n\nclass {name.title()}(unittest.TestCase):\n    def test_it(self):\n        {body}\n",
    )


def money():
    write("shop/money.py", 'def cents(amount):\n    """1.25 -> 125"""\n    return round(amount * 100)\n')
    test("money", "from shop import money", "self.assertEqual(money.cents(1.25), 125)")


def cart():
    write(
        "shop/cart.py",
        "from shop import money\n\n\ndef total(amounts):\n    return sum(money.cents(amount) for amount in amounts)\n",
    )
    test("cart", "from shop import cart", "self.assertEqual(cart.total([1.25, 0.5]), 175)")


def receipt():
    write(
        "shop/receipt.py",
        'from shop import cart\n\n\ndef line(amounts):\n    return f"total {cart.total(amounts) / 100:.2f}"\n',
    )
    test("receipt", "from shop import receipt", 'self.assertEqual(receipt.line([1.25]), "total 1.25")')


def search():
    write(
        "shop/search.py",
        "from shop import catalog\n\n\ndef find(start):\n    return [item for item in catalog.PRICES if item.startswith(start)]\n",
    )
    test("search", "from shop import search", 'self.assertEqual(search.find("b"), ["bread"])')


def euro():
    add_line("shop/currencies.py", "SYMBOLS", '    "EUR": "€",')


def dollar():
    add_line("shop/currencies.py", "SYMBOLS", '    "USD": "$",')


def english():
    add_line("shop/messages.py", "GREETINGS", '    "en": "Good morning",')


def german():
    add_line("shop/messages.py", "GREETINGS", '    "de": "Guten Morgen",')


def slug():
    """Forgets capital letters, until it is told."""
    lower = ".lower()" if HAS_FEEDBACK else ""
    write("shop/slug.py", f'def slug(title):\n    return title{lower}.replace(" ", "-")\n')
    test("slug", "from shop.slug import slug", 'self.assertEqual(slug("Fresh Bread"), "fresh-bread")')


def rename():
    """Renames a function and every use of it that is there to be seen."""
    for path in sorted(pathlib.Path("shop").glob("*.py")):
        text = path.read_text()
        if re.search(r"\bprice\b", text):
            write(path, re.sub(r"\bprice\b", "unit_price", text))


def invoice():
    """Uses that same function, in a file of its own: no conflict for git, and red together."""
    name = "unit_price" if "has no attribute 'price'" in PROMPT else "price"
    write(
        "shop/invoice.py",
        f"from shop import catalog\n\n\ndef amount(item, count):\n    return catalog.{name}(item) * count\n",
    )
    test("invoice", "from shop import invoice", 'self.assertEqual(invoice.amount("apple", 3), 90)')


def readme():
    path = pathlib.Path("README.md")
    write("README.md", path.read_text() + "\nOpen every day from eight to eight.\n")


print(f"working on {TASK}{' again, with feedback' if HAS_FEEDBACK else ''}", flush=True)
for step in STEPS:
    print(step, flush=True)
    time.sleep(SECONDS / len(STEPS))
work = {
    "money": money,
    "cart": cart,
    "receipt": receipt,
    "search": search,
    "euro": euro,
    "dollar": dollar,
    "greet-en": english,
    "greet-de": german,
    "slug": slug,
    "rename-price": rename,
    "invoice": invoice,
    "readme": readme,
}
if TASK not in work:
    sys.exit(f"no script for task {TASK}")
work[TASK]()
print("done", flush=True)
