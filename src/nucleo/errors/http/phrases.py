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
        "monthly",
        "billing",
        "limit",
        "quota",
        "spend",
        "余额",
        "欠费",
        "plans",
    ),
    re.compile(
        r"insufficient (?:\w+ )?(?:credits?|balance|funds to use)|purchase (?:more|additional) credits|out of credits?"
        r"|(?:run|ran) out of (?:searches|credits|requests|quota)|used all available credits|add credits"
        r"|requires more credits|credit (?:limit|balance)[^.]{0,40}(?:exceeded|too low|reached)|credits? (?:exceeded|exhausted)"
        r"|do(?:es)? not have enough credit|credits remaining|monthly (?:spend|spending|usage) (?:cap|limit)"
        r"|maximum credits exceeded|billing (?:plan )?limit|pay-as-you-go limit|hard limit|included credits"
        r"|daily request quota|(?:monthly|plan) quota (?:has been )?(?:exceeded|reached|exhausted)|spend(?:ing)? cap"
        r"|余额不足|欠费|plans? & billing to (?:upgrade|purchase)",
    ),
)
"""Money or a plan's allowance is used up."""

RATE_WINDOW: Final = Phrase(
    ("per", "concurren", "rpm", "tpm", "in", "retrydelay"),
    re.compile(
        r"per[ _-]?(?:minute|second|hour|min\b|sec\b)|perminute|persecond|concurren|requests? per|tokens? per min|\brpm\b|\btpm\b"
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
        r"prompt is too long|input is too long|maximum context length|context (?:length|window|size)[^.]{0,40}exceed"
        r"|exceeds? the (?:available |model'?s? )?(?:maximum )?context|(?:input )?token count[^.]{0,40}exceeds the maximum"
        r"|too large for model with|input length exceeds the context|input tokens exceed|tokens? \+ [^.]{0,40}must be <="
        r"|maximum number of tokens allowed|exceeds the context|reduce the length of the (?:messages|prompt|input)"
        r"|too many (?:input )?tokens in (?:the )?(?:prompt|request)|prompt (?:has|contains) [\d,]+ tokens",
    ),
)
REQUEST_TOO_LARGE: Final = Phrase(
    ("too large", "single request"),
    re.compile(r"request too large for (?:model )?|single request exceeds"),
)
"""One request that exceeds a whole minute's window: waiting never helps."""

REFUSAL: Final = Phrase(
    ("content", "blocked", "safety", "flagged", "filtered", "usage policies"),
    re.compile(
        r"content[ -](?:filter|management policy|filtering policy|policy violation)|output blocked by content"
        r"|safety system|input was flagged|was flagged for|response was filtered|flagged by (?:our )?moderation"
        r"|usage policies|blocked by (?:our )?safety",
    ),
)
MODEL: Final = Phrase(
    ("model", "deployment", "endpoint"),
    re.compile(
        r"model\s?[`'\":]?[^`'\"]{0,120}[`'\"]?\s*(?:does not exist|not found|is not supported|was not found|is not available)"
        r"|model not found|no such model|unknown model|deployment[^.]{0,60}does not exist|model is marked by provider as legacy"
        r"|no endpoints? found",
    ),
)
THROTTLE: Final = Phrase(
    ("rate", "limit", "abuse", "too many", "throttled", "1015", "misuse", "pending", "calls per", "fair use"),
    re.compile(
        r"rate limit (?:exceeded|reached)|exceeded a secondary rate limit|abuse detection mechanism|too many requests"
        r"|request was throttled|rate exceeded|error code: 1015|blocked due to a possible misuse|rate[ -]limited"
        r"|maximum pending requests exceeded|exceeded [\d.]+ calls per second|violation of fair use",
    ),
)
QUEUE_FULL: Final = Phrase(
    ("pending",),
    re.compile(r"maximum pending requests exceeded"),
)
"""A 503 that is a throttle, as Ollama says it; other 503s keep their own meaning, with their wait."""
CAPACITY: Final = Phrase(
    ("capacity", "overloaded"),
    re.compile(r"no capacity available|out of capacity|server is overloaded"),
)
CREDENTIALS: Final = Phrase(
    ("key", "token", "auth", "credentials", "logged in", "jwt", "session", "login"),
    re.compile(
        r"(?:incorrect|invalid|missing|expired|bad|wrong|unknown) (?:or (?:missing|invalid|expired) )?(?:x-)?api[ _-]?key"
        r"|api[ _-]?key (?:not valid|is invalid|expired|is missing|not found)"
        r"|invalid (?:api |access |bearer )?token|bad credentials|bad authorization header|invalid authorization header"
        r"|(?:token|jwt|session) (?:has been |has |is )?(?:expired|revoked)|must be logged in|login attempts? exceeded"
        r"|no (?:cookie )?auth credentials|authentication (?:failed|required)",
    ),
)
ROUTE: Final = Phrase(
    ("route", "cannot", "endpoint", "removed", "no such"),
    re.compile(
        r"no route (?:for|matched)|cannot (?:get|post|put|delete|patch) /|endpoint[^.]{0,40}(?:removed|gone|not exist)"
        r"|requested api has been removed|unknown (?:endpoint|route)|no such (?:endpoint|route|api)|route not found",
    ),
)
"""The address is wrong: a defect of the tool, not of the model's input."""
