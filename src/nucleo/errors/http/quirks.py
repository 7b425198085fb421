"""What only one service does, keyed by host: data, a line each with its source.

A host matches itself and everything below it. A service's own client can do more in `classify`.
"""

from functools import lru_cache
from typing import Final

from nucleo.errors.http.codes import Meaning
from nucleo.errors.http.quirk import Quirk, codes

SCIENCE: Final = (
    Quirk(
        hosts=("ops.epo.org",),
        codes=codes(throttle="individualquotaperhour", quota="registeredquotaperweek"),
        words={"fair use policy": Meaning.THROTTLE},
        milliseconds=True,
        source="EPO OPS reference guide: throttling and fair use",
    ),
    Quirk(
        hosts=("pubchem.ncbi.nlm.nih.gov",),
        codes=codes(service="pugresttimeout"),
        quotes_5xx=True,
        source="PUG REST: status codes; a time-out is answered by asking for less",
    ),
    Quirk(
        hosts=("ncbi.nlm.nih.gov",),
        words={"possible misuse": Meaning.THROTTLE, "api rate limit exceeded": Meaning.THROTTLE},
        source="NCBI usage policies: a blocked address",
    ),
    Quirk(
        hosts=("eutils.ncbi.nlm.nih.gov",),
        words={
            "cannot get document summary": Meaning.NOT_FOUND,
            "api rate limit exceeded": Meaning.THROTTLE,
            "backend failed": Meaning.SERVICE,
            "api key invalid": Meaning.UNAUTHORIZED,
        },
        statuses={200: Meaning.INPUT},
        source="NCBI E-utilities: an ERROR element in a 200 is about the request, unless its words say otherwise",
    ),
    Quirk(
        hosts=("api.openalex.org",),
        words={"invalid query parameters": Meaning.INPUT},
        source="OpenAlex: a wrong filter answered 403 before 2026",
    ),
    Quirk(
        hosts=("export.arxiv.org",),
        statuses={503: Meaning.THROTTLE},
        source="arXiv API: a 503 with Retry-After is its rate limit",
    ),
    Quirk(
        hosts=("api.biorxiv.org", "api.medrxiv.org"),
        codes=codes(not_found="nopostsfound"),
        source="bioRxiv API: nothing found in a 200",
    ),
    Quirk(
        hosts=("rest.ensembl.org",),
        words={"not found": Meaning.NOT_FOUND},
        source="Ensembl REST: an unknown stable id is a 400",
    ),
    Quirk(
        hosts=("rest.kegg.jp",),
        statuses={403: Meaning.THROTTLE},
        source="KEGG API: a 403 for more than three calls a second",
    ),
    Quirk(
        hosts=("api.wolframalpha.com",),
        words={
            "did not understand": Meaning.INPUT,
            "invalid appid": Meaning.UNAUTHORIZED,
            "appid missing": Meaning.UNAUTHORIZED,
        },
        statuses={501: Meaning.INPUT},
        source="Wolfram|Alpha: 501 for an input that cannot be interpreted",
    ),
    Quirk(
        hosts=("api.elsevier.com",),
        codes=codes(quota="quotaexceeded"),
        source="Elsevier developer portal: a weekly quota",
    ),
    Quirk(
        hosts=("api.geonames.org",),
        words={
            "daily limit": Meaning.QUOTA,
            "weekly limit": Meaning.QUOTA,
            "hourly limit": Meaning.THROTTLE,
            "user account not enabled": Meaning.UNAUTHORIZED,
            "user does not exist": Meaning.UNAUTHORIZED,
            "invalid parameter": Meaning.INPUT,
            "missing parameter": Meaning.INPUT,
            "no result found": Meaning.NOT_FOUND,
            "server overloaded": Meaning.SERVICE,
        },
        source="GeoNames: exceptions of the web services, in a 200",
    ),
)
CLOUD: Final = (
    Quirk(
        hosts=("kinesis",),
        codes=codes(throttle="limitexceeded"),
        source="Kinesis API: LimitExceededException is a rate here, elsewhere a fixed cap",
    ),
    Quirk(
        hosts=(
            "sellingpartnerapi-na.amazon.com",
            "sellingpartnerapi-eu.amazon.com",
            "sellingpartnerapi-fe.amazon.com",
            "fcm.googleapis.com",
        ),
        codes=codes(throttle="quotaexceeded"),
        source="Amazon SP-API: QuotaExceeded is its usage plan's rate",
    ),
    Quirk(
        hosts=("api.cloudflare.com",),
        codes=codes(unauthorized="10000 9109 6003 10001", throttle="971 10429", service="7003"),
        source="Cloudflare API v4: errors[].code",
    ),
    Quirk(
        hosts=("maps.googleapis.com",),
        codes=codes(input="invalidrequest"),
        good=frozenset({"ok", "zeroresults"}),
        source="Google Maps web services: status codes in the body",
    ),
)
BUSINESS: Final = (
    Quirk(
        hosts=("api.monday.com",),
        codes=codes(throttle="complexity complexitybudgetexhausted"),
        source="monday.com API: ComplexityException, in a 200",
    ),
    Quirk(
        hosts=("api.github.com",),
        words={"login attempt": Meaning.UNAUTHORIZED},
        source="GitHub REST: rate limits and abuse; login attempts",
    ),
    Quirk(hosts=("production.plaid.com",), codes=codes(unauthorized="itemloginrequired"), source="Plaid: item errors"),
    Quirk(
        hosts=("api.stripe.com",),
        codes=codes(input="insufficientfunds carddeclined carderror"),
        source="Stripe: 402 is about the customer's card, never about our account",
    ),
    Quirk(
        hosts=("connect.squareup.com",),
        codes=codes(input="insufficientfunds paymentmethoderror"),
        source="Square: 402 is about the buyer's card",
    ),
    Quirk(
        hosts=("salesforce.com", "force.com"),
        codes=codes(quota="requestlimitexceeded"),
        source="Salesforce: REQUEST_LIMIT_EXCEEDED counts the calls of 24 hours",
    ),
    Quirk(
        hosts=("api.hubapi.com",),
        codes=codes(quota="daily", throttle="secondly tensecondlyrolling"),
        source="HubSpot usage guidelines: policyName says which window",
    ),
    Quirk(
        hosts=("graph.facebook.com",),
        codes=codes(
            not_found="33 803",
            throttle="4 17 32 613 130429 131056 80000 80001 80002 80003 80004 80005 80006 80007 80008 80009 80014",
            unauthorized="190 102",
            forbidden="10 200 294 368",
            service="1 2",
        ),
        source="Meta Graph API: error handling and rate limiting",
    ),
    Quirk(
        hosts=("api.vk.com",),
        codes=codes(
            throttle="6 9",
            quota="29",
            unauthorized="5 27 28",
            forbidden="7 14 15 17",
            not_found="18 113",
            input="100",
            service="1 10",
        ),
        source="VK API: error codes, always in a 200",
    ),
    Quirk(
        hosts=("api.weixin.qq.com",),
        codes=codes(
            unauthorized="40001 40013 40014 42001", quota="45009", throttle="45011", forbidden="48001", service="-1"
        ),
        source="WeChat: global return codes, in a 200",
    ),
    Quirk(
        hosts=("open.feishu.cn", "open.larksuite.com"),
        codes=codes(throttle="99991400 11232", unauthorized="99991663 99991661 99991668", forbidden="99991672"),
        source="Feishu: server-side error codes",
    ),
    Quirk(
        hosts=("discord.com",),
        codes=codes(not_found="10003 10008 10013", throttle="20028", forbidden="50001 50013"),
        source="Discord: JSON error codes",
    ),
    Quirk(
        hosts=("api.deepl.com", "api-free.deepl.com"),
        statuses={456: Meaning.QUOTA},
        source="DeepL API: 456 when the characters are used up",
    ),
    Quirk(
        hosts=("api.tavily.com",),
        statuses={432: Meaning.QUOTA, 433: Meaning.QUOTA},
        source="Tavily: 432 for the plan, 433 for pay-as-you-go",
    ),
    Quirk(
        hosts=("api.weatherapi.com",),
        codes=codes(not_found="1006", quota="2007", unauthorized="2006", forbidden="2008 2009"),
        source="WeatherAPI.com: error codes",
    ),
    Quirk(
        hosts=("data.fixer.io",),
        codes=codes(unauthorized="101", forbidden="102 105", quota="104", not_found="106"),
        source="apilayer: error codes, in a 200",
    ),
    Quirk(
        hosts=("api.exchangerate.host",),
        codes=codes(unauthorized="101", forbidden="102", quota="104", throttle="106"),
        source="apilayer: error codes, in a 200",
    ),
    Quirk(
        hosts=("alphavantage.co",),
        words={
            "per day": Meaning.QUOTA,
            "per minute": Meaning.THROTTLE,
            "per second": Meaning.THROTTLE,
            "invalid api call": Meaning.INPUT,
            "the parameter apikey is invalid": Meaning.UNAUTHORIZED,
            "premium endpoint": Meaning.FORBIDDEN,
        },
        places=frozenset({"information", "note"}),
        source="Alpha Vantage: Note, Information and Error Message, in a 200",
    ),
    Quirk(
        hosts=("api.etherscan.io",),
        words={
            "max rate limit reached": Meaning.THROTTLE,
            "max calls per sec": Meaning.THROTTLE,
            "invalid api key": Meaning.UNAUTHORIZED,
            "missing/invalid api key": Meaning.UNAUTHORIZED,
            "invalid address format": Meaning.INPUT,
        },
        places=frozenset({"result"}),
        source="Etherscan: NOTOK and its reason in `result`, in a 200",
    ),
    Quirk(
        hosts=("api.kraken.com",),
        words={
            "eapi:rate limit exceeded": Meaning.THROTTLE,
            "eorder:rate limit exceeded": Meaning.THROTTLE,
            "egeneral:too many requests": Meaning.THROTTLE,
            "eapi:invalid key": Meaning.UNAUTHORIZED,
            "eapi:invalid signature": Meaning.UNAUTHORIZED,
            "eapi:invalid nonce": Meaning.UNAUTHORIZED,
            "egeneral:permission denied": Meaning.FORBIDDEN,
            "egeneral:invalid arguments": Meaning.INPUT,
            "equery:unknown": Meaning.INPUT,
            "eservice:": Meaning.SERVICE,
            "egeneral:internal error": Meaning.SERVICE,
        },
        source="Kraken REST: error messages, in a 200",
    ),
    Quirk(
        hosts=("api.binance.com",),
        codes=codes(throttle="-1003 -1015", unauthorized="-2014 -2015 -1022 -1021", service="-1001", not_found="-2013"),
        statuses={418: Meaning.THROTTLE},
        source="Binance Spot API: error codes; 418 for a banned address",
    ),
    Quirk(
        hosts=("omdbapi.com",),
        words={
            "not found": Meaning.NOT_FOUND,
            "request limit reached": Meaning.QUOTA,
            "invalid api key": Meaning.UNAUTHORIZED,
            "no api key": Meaning.UNAUTHORIZED,
            "incorrect imdb id": Meaning.INPUT,
        },
        source="OMDb: Response False and Error, in a 200",
    ),
    Quirk(
        hosts=("ws.audioscrobbler.com",),
        codes=codes(not_found="6", unauthorized="10 4 9", forbidden="26", throttle="29", service="11 16"),
        source="Last.fm API: error codes; 6 is what it says of unknown names",
    ),
    Quirk(
        hosts=("api.stackexchange.com",),
        codes=codes(
            throttle="throttleviolation 502", input="400", unauthorized="401 402", forbidden="403", service="404"
        ),
        source="Stack Exchange API: error ids, all under 400",
    ),
    Quirk(
        hosts=("quickbooks.api.intuit.com",),
        codes=codes(throttle="3001", unauthorized="3200", not_found="610"),
        source="QuickBooks Online: Fault codes",
    ),
    Quirk(
        hosts=("aip.baidubce.com",),
        codes=codes(quota="4 17 19", throttle="18 336501 336502", input="100", unauthorized="110 111", forbidden="6"),
        source="Baidu AI: error codes, in a 200",
    ),
    Quirk(
        hosts=("restapi.amap.com",),
        codes=codes(unauthorized="10001 10009", quota="10003 10044", throttle="10004 10021", input="20000 20001"),
        source="Amap: infocode, in a 200",
    ),
)
MODELS: Final = (
    Quirk(
        hosts=("huggingface.co",),
        codes=codes(not_found="reponotfound revisionnotfound", forbidden="gatedrepo"),
        source="huggingface_hub: X-Error-Code; a missing repository answers 401",
    ),
    Quirk(
        hosts=("minimax.io", "minimaxi.com"),
        codes=codes(
            service="1000 1001 1013",
            throttle="1002 1039",
            unauthorized="1004 2049",
            quota="1008 2056",
            refusal="1026 1027",
            input="2013",
        ),
        source="MiniMax: base_resp.status_code, in a 200",
    ),
    Quirk(
        hosts=("bigmodel.cn", "api.z.ai"),
        codes=codes(
            quota="1113 1304 1308",
            forbidden="1112",
            model_not_found="1211",
            overflow="1261",
            refusal="1301",
            throttle="1302 1303",
            service="1305",
            unauthorized="1000 1002 1003",
        ),
        source="Zhipu: business error codes",
    ),
    Quirk(
        hosts=("api.mistral.ai",),
        codes=codes(overflow="3051", throttle="1300", model_not_found="1500"),
        source="Mistral: the number in `code`",
    ),
    Quirk(hosts=("api.groq.com",), codes=codes(quota="blockedapiaccess"), source="Groq: spend limits"),
)

QUIRKS: Final = (*SCIENCE, *CLOUD, *BUSINESS, *MODELS)
"""The table."""


@lru_cache(maxsize=256)
def quirk_of(host: str) -> Quirk | None:
    """Find what is particular about a host; of several the longest name."""
    host = host.lower().rpartition("@")[2].partition(":")[0]
    if not host:
        return None
    found = [(name, quirk) for quirk in QUIRKS for name in quirk.hosts if _matches(host, name)]
    return max(found, key=lambda match: len(match[0]))[1] if found else None


def _matches(host: str, name: str) -> bool:
    if "." not in name:
        return host.startswith(f"{name}.")
    return host == name or host.endswith(f".{name}")
