"""What is secret or personal is taken out of a text, and the rest of it stays readable."""

import base64
import json
import urllib.parse

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nucleo.errors.masking import LONGEST, mask

MASKED = [
    ("Authorization: Bearer hunter2x", "hunter2x", "Authorization: Bearer [masked]"),
    ("Token 'Bearer fake-token-0123456789abcdef' is not valid", "fake-token", "is not valid"),
    ("bad header: Basic ZmFrZXVzZXI6ZmFrZXBhc3N3b3Jk; use Bearer", "ZmFrZXVzZXI6", "; use Bearer"),
    (
        "Incorrect API key provided: sk-proj-abcDEF0123456789. You can",
        "abcDEF",
        "Incorrect API key provided: [masked].",
    ),
    ("Incorrect API key provided: sk-abcd****************wxyz.", "wxyz", "Incorrect API key provided: [masked]."),
    ("Incorrect API key provided: xa***QW. You can obtain one", "xa***QW", "You can obtain one"),
    ("Invalid API Key provided: sk_test_FAKE****0000", "sk_test_FAKE", "Invalid API Key provided"),
    ("the key sk-...abcd is revoked", "abcd", "is revoked"),
    ("token ghp_0123456789abcdefABCDEF0123456789abcd expired", "ghp_0123", "expired"),
    ("xoxb-1234567890-abcdefABCDEF was revoked", "1234567890", "was revoked"),
    ("AKIAIOSFODNN7EXAMPLE is unknown", "AKIAIOSFODNN7", "is unknown"),
    ("key AIzaFAKEFAKEFAKEFAKE0123 is restricted", "AIzaFAKE", "is restricted"),
    ("hf_abcdefGHIJKL0123456789 is no token", "hf_abcdef", "is no token"),
    ("The API key 'FAKEKEY0123456789' is not valid", "FAKEKEY", "The API key '[masked]' is not valid"),
    ("jwt expired: eyJhbGciOiJub25lIn0.eyJzdWIiOiJmYWtlIn0.ZmFrZQ", "eyJhbGci", "jwt expired: [masked]"),
    (
        "near -----BEGIN RSA PRIVATE KEY-----\nMIIFAKE\n-----END RSA PRIVATE KEY----- of x",
        "MIIFAKE",
        "near [masked] of x",
    ),
    ("-----BEGIN PRIVATE KEY-----\nMIIFAKE cut off", "MIIFAKE", "[masked]"),
    ("GET /v1?api_key=FAKE0123&page=2", "FAKE0123", "GET /v1?api_key=[masked]&page=2"),
    ("https://x/o?X-Amz-Signature=fakesig&X-Amz-Date=2026: column age", "fakesig", "column age"),
    ("https://x/o?sv=1&sig=abc%2Bdef%3D&se=2", "abc%2B", "&se=2"),
    ("https://x/o?X-Goog-Credential=fake%40p.iam: column age missing", "fake%40p", ": column age missing"),
    ('{"password":"hunter 2","page":1}', "hunter", '{"password":"[masked]","page":1}'),
    ('{\\"client_secret\\":\\"abc def\\",\\"page\\":1}', "abc def", '\\"page\\":1'),
    ('{"password":"cut off he', "cut off", '{"password":"[masked]'),
    ("{'refreshToken': 'zzz'}", "zzz", "{'refreshToken': '[masked]'}"),
    ("Server=db;User Id=app;Password=hunter2;", "hunter2", "Server=db;User Id=app;Password=[masked];"),
    ("AccountKey=abc/def+ghi==;EndpointSuffix=x", "abc/def", ";EndpointSuffix=x"),
    ("<Token-0>FAKESESSIONTOKEN</Token-0><Code>X</Code>", "FAKESESSION", "<Code>X</Code>"),
    ("x-amz-security-token:FAKESECURITYTOKEN", "FAKESECURITY", "x-amz-security-token:[masked]"),
    ("Set-Cookie: sid=abc; Path=/; HttpOnly", "abc", "Set-Cookie: [masked]"),
    ("password%3Dhunter2&page=1", "hunter2", "&page=1"),
    ("postgres://app:pa/ss@db:5432/x failed", "pa/ss", "@db:5432/x failed"),
    ("redis://:pw0rd@cache:6379/0", "pw0rd", "@cache:6379/0"),
    ("app:pw0rd@tcp(db:3306)/x", "pw0rd", "@tcp(db:3306)/x"),
    ("POST /bot0000:FAKETOKEN/sendMessage", "FAKETOKEN", "/sendMessage"),
    ("POST /services/T000/B000/xyzxyz", "xyzxyz", "POST /services/T000/B000/[masked]"),
    ("The client 'someone@example.org' is not allowed", "someone@", "is not allowed"),
    ("rate limit exceeded for 192.0.2.17. (But", "192.0.2.17", "rate limit exceeded for [masked]. (But"),
    ("connection from 2001:db8::7 refused", "2001:db8", "refused"),
    ("in organization org-FAKEFAKEFAKE on tokens", "org-FAKE", "in organization [masked] on tokens"),
    ("Your team 00000000-0000-0000-0000-000000000000 has used", "00000000", "Your team [masked] has used"),
    ("with object id '22222222-2222-2222-2222-222222222222' does not", "22222222", "does not"),
    ("User: arn:aws:iam::123456789012:user/x is not authorized", "123456789012", "is not authorized"),
]

KEPT = [
    "Bearer authentication is required",
    "password: is too short (minimum is 8 characters)",
    "Field 'password' must have 8 characters",
    '{"errors":{"password":"required"}}',
    "max_new_tokens=100, tokens: 4096, input token count (1196265)",
    "page_token is not valid: start again without it",
    "Could not find page with ID: 00000000-0000-0000-0000-000000000000.",
    "No such customer: 'cus_nope12345'",
    "account 12345678 not found",
    "Unexpected token: } at position 5",
    "<Key>submissions/CIK0000000000.json</Key>",
    "the enzyme EC 1.1.1.1 and version 1.2.3.4",
    "std::vector<int> is no route at 10:00:30",
    "https://host:8080/@scope/pkg",
    "use sk-learn, hf_hub_download or key-value",
    "Invalid signature: MD5 mismatch",
    '"primary_key":"id9999999", "key":"age"',
    "Set-Cookie: missing",
    "Invalid value for 'limit': must be <= 100",
]


@pytest.mark.parametrize(("text", "secret", "rest"), MASKED)
def test_a_secret_is_masked_and_the_rest_stays(text: str, secret: str, rest: str) -> None:
    masked = mask(text)
    assert secret not in masked
    assert rest in masked


@pytest.mark.parametrize("text", KEPT)
def test_what_a_model_needs_is_not_taken_for_a_secret(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(("text", "secret", "rest"), MASKED)
def test_masking_twice_is_masking_once(text: str, secret: str, rest: str) -> None:
    del secret, rest
    assert mask(mask(text)) == mask(text)


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["Cs"]), min_size=6, max_size=24),
    st.text("abc xyz.,:", max_size=20),
    st.text("abc xyz.,:", max_size=20),
)
@example("p@ss/wörd", "x ", " y")
@settings(max_examples=100)
def test_a_secret_of_the_caller_is_masked_however_it_is_written(secret: str, before: str, after: str) -> None:
    if secret in before or secret in after:
        return
    forms = [
        secret,
        urllib.parse.quote(secret, safe=""),
        urllib.parse.quote_plus(secret),
        urllib.parse.quote(secret, safe="").lower() if secret.lower() == secret else secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(secret)[1:-1].replace("/", "\\/"),
    ]
    for form in forms:
        assert form not in mask(f"{before}{form}{after}", secrets=[secret])


def test_the_value_of_a_header_is_a_secret_with_and_without_its_scheme() -> None:
    pair = base64.b64encode(b"app:correct horse").decode()
    text = mask(f"sent {pair}, that is 'correct horse' of app", secrets=[f"Basic {pair}"])
    assert text == "sent [masked], that is '[masked]' of app"
    assert mask("got abcdefgh", secrets=["Bearer abcdefgh"]) == "got [masked]"


def test_a_short_secret_is_masked_where_it_is_a_word() -> None:
    assert mask("abc abcd xabc 'abc'", secrets=["abc", ""]) == "[masked] abcd xabc '[masked]'"


def test_the_longer_of_two_secrets_is_masked_whole() -> None:
    assert mask("topsecret99x", secrets=["topsecret", "topsecret99x"]) == "[masked]"


def test_personal_data_may_be_left_in_and_secrets_never() -> None:
    text = "a@example.org used api_key=FAKE0123 from 192.0.2.1"
    assert mask(text, personal=False) == "a@example.org used api_key=[masked] from 192.0.2.1"


def test_a_text_that_nobody_could_be_shown_is_cut_before_the_word_at_the_cut() -> None:
    text = "x" * (LONGEST - 10) + " sk-proj-abcDEF0123456789"
    masked = mask(text)
    assert "sk-proj" not in masked
    assert len(masked) < LONGEST + 100
    assert "more characters]" in masked


@given(st.text(max_size=400))
@settings(max_examples=200)
def test_masking_never_raises_and_settles(text: str) -> None:
    once = mask(text)
    assert mask(once) == mask(mask(once))


PIECES = st.sampled_from(
    (
        *("key=", 'password":"', "token: ", "Bearer ", "sk-", "://", "@", "a.b", "1.2.3.4", "::", "eyJ", "***", "é"),
        *(
            "-----BEGIN",
            "cookie: a=",
            "org-",
            "account 1",
            "\\",
            '"',
            "'",
            "%3D",
            "<Token>",
            "</",
            "İ",
            " ",
            "\n",
            "0123",
        ),
    )
)


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=200)
def test_masking_never_raises_on_pieces_of_what_it_looks_for(text: str) -> None:
    assert isinstance(mask(text, secrets=["sk-0123", "é/@"]), str)


@pytest.mark.parametrize(
    "text",
    [
        "The value \"<secret>\" for parameter 'pin' is not valid: give a whole number",
        "The value <SecretStr> for parameter 'password' is not valid: must have 12 characters or more",
        "give <token>, or nothing",
    ],
)
def test_a_name_that_stands_for_what_is_not_shown_hides_nothing_behind_it(text):
    assert mask(text) == text


def test_an_element_of_a_secret_name_is_still_masked():
    assert "hunter22" not in mask("<password>hunter22</password>")
    assert "hunter22" not in mask("<password>hunter22")
