"""What is recognised by words, where no code speaks. Kept short: codes survive translation, sentences do not.

Each phrase is matched only where its meaning is in question, never against a status that already speaks.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Phrase:
    """A way of saying something.

    Attributes:
        hints: Parts of it, one of which every text that says it contains; asked first, because most texts have none.
        pattern: The phrase itself.
    """

    hints: tuple[str, ...]
    pattern: re.Pattern[str]

    def search(self, words: str) -> bool:
        """Tell whether a text, in lower case, says it."""
        for hint in self.hints:
            if hint in words:
                return self.pattern.search(words) is not None
        return False


MONEY: Final = Phrase(
    (
        "credit",
        "balance",
        "funds",
        "ran out",
        "run out",
        "billing",
        "-go limit",
        "hard limit",
        "spend",
        "余额",
        "欠费",
        "plans",
        "free tier",
        "call volume quota",
    ),
    re.compile(
        r"(?:insufficient|not enough|lack sufficient|lacks sufficient) (?:\w+ )?(?:credits?|balance|funds to use)"
        r"|purchase (?:more|additional) credits|out of credits?"
        r"|(?:run|ran) out of (?:searches|credits|requests|quota)|used all available credits|add (?:more )?credits"
        r"|requires more credits|credits? (?:limit|balance)[^.]{0,40}(?:exceeded|too low|reached)|exceeded your credits?"
        r"|credits? (?:exceeded|exhausted|depleted)|do(?:es)? not have (?:enough|any) credit|credits remaining"
        r"|maximum credits exceeded|billing (?:plan )?limit|pay-as-you-go limit|hard limit|included credits"
        r"|spend(?:ing)? (?:cap|limit)|余额不足|欠费|plans? & billing to (?:upgrade|purchase)|check your billing details"
        r"|enable billing on|requires billing to be enabled|free tier of [^.]{0,60}exhausted|out of call volume quota",
    ),
)
"""Money or a plan's allowance is used up."""

ALLOWANCE: Final = Phrase(
    ("month", "daily", "weekly", "quota", "usage limit"),
    re.compile(
        r"(?:monthly|daily|weekly|yearly|month|day) (?:\w+ ){0,4}(?:quota|limit|cap|volume|allowance)[^.]{0,60}(?:exceeded|reached|exhausted|used up)"
        r"|(?:exceeded|reached|over|exhausted) (?:\w+ ){0,3}(?:monthly|daily|weekly|yearly) (?:\w+ ){0,4}(?:quota|limit|cap|volume|allowance)"
        r"|monthly (?:spend|spending|usage) (?:cap|limit)|(?:exceeded|reached) (?:\w+ ){0,2}calls per month"
        r"|daily request quota|(?:monthly|plan) quota (?:has been )?(?:exceeded|reached|exhausted)|^quota exceeded\.?$"
        r"|(?:limited to|rate limit is) [\d,]+ (?:\w+ )?(?:calls|requests) ?(?:/|per) (?:day|month)"
        r"|reached your (?:\w+ ){0,3}usage limits?",
    ),
)
"""The allowance of a day, a month or a plan is used up: money, unless the answer says when there is more."""

DEMAND: Final = Phrase(
    ("must ", "should ", "may not ", "cannot ", "has to ", "need ", "not allowed to"),
    re.compile(
        r"\bmust (?:be|have|not|match)|\bshould (?:be|have|not)|\bmay not\b|\bcannot (?:be|change|edit|set|update|raise)|\bhas to be|\bneed (?:the|a|an)\b"
    ),
)
"""A rule for an input or a person: beside one, words about money or limits only name what the rule is about."""

RATE_WINDOW: Final = Phrase(
    ("per", "concurren", "rpm", "tpm", "retry in", "again in", "retrydelay"),
    re.compile(
        r"per[ _-]?(?:minute|second|hour|min\b|sec\b)|perminute|persecond|concurren|requests? per (?!day|month)|tokens? per min|\brpm\b|\btpm\b"
        r"|retry in|try again in|retrydelay",
    ),
)
"""A short window or concurrency: then words about quota mean a throttle."""

LIMIT_ZERO: Final = Phrase(
    ("limit: 0",),
    re.compile(r"limit: 0\b"),
)
"""A free tier that allows nothing at all, as Gemini says it."""

OVERFLOW: Final = Phrase(
    ("too long", "context", "token", "too large", "reduce", "exceeds", "length"),
    re.compile(
        r"prompt (?:is )?too long|input is too long|maximum (?:context|prompt) length|context (?:length|window|size|limit)[^.]{0,40}exceed"
        r"|exceeds? the (?:available |model'?s? )?(?:maximum )?context|exceeds? (?:the )?context (?:limit|window|length|size)"
        r"|(?:input |prompt )?token count[^.]{0,40}exceeds the|token count is [\d,]+ but model only supports"
        r"|too large for model with|input length exceeds (?:the |maximum )?context|input tokens exceed|tokens? \+ [^.]{0,40}must be <="
        r"|maximum number of tokens allowed|reduce the length of the (?:messages|prompt|input)|exceeded model token limit"
        r"|too many (?:input )?tokens(?: in (?:the )?(?:prompt|request)|[.:])|prompt (?:has|contains) [\d,]+ tokens"
        r"|inputs` must have less than [\d,]+ tokens|range of input length should be|context length of only [\d,]+ tokens"
        r"|request exceeds the maximum size|max size: [\d,]+ tokens",
    ),
)
REQUEST_TOO_LARGE: Final = Phrase(
    ("too large", "single request"),
    re.compile(r"request too large for (?:model )?|single request exceeds"),
)
"""One request that exceeds a whole minute's window: waiting never helps."""

REFUSAL: Final = Phrase(
    (
        "content",
        "blocked",
        "safety",
        "flagged",
        "filtered",
        "usage policies",
        "usage guidelines",
        "high risk",
        "responsible ai",
    ),
    re.compile(
        r"content[ -](?:filter|management policy|filtering policy|policy violation|moderation)|output blocked by content"
        r"|safety system|(?:input|prompt|request) was flagged|was flagged (?:for|as)|response was filtered|flagged by (?:our )?moderation"
        r"|violat\w+ (?:our )?usage (?:policy|policies|guidelines)|blocked by (?:our )?(?:safety|content)|content exists risk"
        r"|considered high risk|violate \S+ responsible ai|inappropriate content|safety_check_type|不安全或敏感内容"
        r"|new_sensitive",
    ),
)
"""What was asked or answered is not allowed; not to be taken for a blocked account."""
ACCOUNT_BLOCKED: Final = Phrase(
    ("resource has been", "account has been", "access has been"),
    re.compile(r"(?:resource|account|access) has been (?:temporarily )?(?:blocked|disabled|suspended|revoked)"),
)
MODEL: Final = Phrase(
    ("model", "deployment", "endpoint"),
    re.compile(
        r"model\s?[`'\":]?[^`'\"]{0,120}[`'\"]?\s*(?:does not exist|not found|is not supported|was not found|is not available"
        r"|has been decommissioned|is not a valid)"
        r"|models?/\S{1,80} is not found|model not found|no such model|unknown model|invalid model\b|model not exist"
        r"|deployment[^.]{0,60}does not exist|model is marked by provider as legacy|no endpoints? found"
        r"|model identifier is invalid|provided model identifier|not a valid model|not found the model|unable to access model"
        r"|does not have access to model|^model: \S{1,120}$",
    ),
)
THROTTLE: Final = Phrase(
    (
        "rate",
        "limit",
        "abuse",
        "too many",
        "throttled",
        "1015",
        "misuse",
        "pending",
        "calls per",
        "fair use",
        "calls to this",
    ),
    re.compile(
        r"rate limit (?:exceeded|reached)|exceeded (?:the|a|your) (?:\w+ )?rate limit|max rate limit reached|abuse detection mechanism"
        r"|too many requests|request was throttled|rate exceeded|error code: 1015|blocked due to a possible misuse"
        r"|(?:is|are|been|being|temporarily) rate[ -]limited|maximum pending requests exceeded|exceeded [\d.]+ calls per second"
        r"|violation of fair use|request limit reached",
    ),
)
QUEUE_FULL: Final = Phrase(
    ("pending",),
    re.compile(r"maximum pending requests exceeded"),
)
"""A 503 that is a throttle, as Ollama says it; other 503s keep their own meaning, with their wait."""
CAPACITY: Final = Phrase(
    ("capacity", "overloaded"),
    re.compile(r"no capacity available|out of capacity|(?:server|service|model) (?:is|may be)(?: \w+)? overloaded"),
)
CREDENTIALS: Final = Phrase(
    ("key", "token", "auth", "credentials", "logged in", "jwt", "session", "login", "appid"),
    re.compile(
        r"(?:incorrect|invalid|missing|expired|bad|wrong|unknown|no) (?:or (?:missing|invalid|expired) )?(?:x-)?api[ _-]?key"
        r"|api[ _-]?key (?:not valid|is invalid|expired|is missing|not found)|invalid appid"
        r"|invalid (?:api |access |bearer |auth(?:entication)? )token|^invalid token\.?$|bad credentials|bad authorization header"
        r"|invalid authorization header|(?:token|jwt|session) (?:has been |has |is )?(?:expired|revoked)|must be logged in"
        r"|login attempts? exceeded|no (?:cookie )?auth credentials|authentication (?:failed|required|error)"
        r"|missing subscription key",
    ),
)
ROUTE: Final = Phrase(
    ("route", "cannot", "endpoint", "removed", "no such", "deployment"),
    re.compile(
        r"no route (?:matched|was found)|cannot (?:get|post|put|delete|patch) /|endpoint[^.]{0,60}(?:removed|gone|is offline)"
        r"|endpoint ['\"`]?/\S{0,200} does not exist"
        r"|requested api has been removed|unknown (?:endpoint|route)|no such (?:endpoint|route|api)|route not found"
        r"|deployment could not be found",
    ),
)
"""The address is wrong: a defect of the tool, not of the model's input."""
