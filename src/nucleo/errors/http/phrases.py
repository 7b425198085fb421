"""What is recognised by words, where no code speaks. Kept short: codes survive translation, sentences do not.

Each phrase is matched only where its meaning is in question, never against a status that already speaks.
"""

import re
from typing import Final

MONEY: Final = re.compile(
    r"insufficient (?:\w+ )?(?:credits?|balance|funds to use)|purchase (?:more|additional) credits|out of credits?"
    r"|(?:run|ran) out of (?:searches|credits|requests|quota)|used all available credits|add credits"
    r"|requires more credits|credit (?:limit|balance)[^.]{0,40}(?:exceeded|too low|reached)|credits? (?:exceeded|exhausted)"
    r"|do(?:es)? not have enough credit|credits remaining|monthly (?:spend|spending|usage) (?:cap|limit)"
    r"|maximum credits exceeded|billing (?:plan )?limit|pay-as-you-go limit|hard limit|included credits"
    r"|daily request quota|(?:monthly|plan) quota (?:has been )?(?:exceeded|reached|exhausted)|spend(?:ing)? cap"
    r"|余额不足|欠费|plans? & billing to (?:upgrade|purchase)",
    re.IGNORECASE,
)
"""Money or a plan's allowance is used up."""

RATE_WINDOW: Final = re.compile(
    r"per[ _-]?(?:minute|second|hour|min\b|sec\b)|perminute|persecond|concurren|requests? per|tokens? per min|\brpm\b|\btpm\b"
    r"|retry in|try again in|retrydelay",
    re.IGNORECASE,
)
"""A short window or concurrency: then words about quota mean a throttle."""

LIMIT_ZERO: Final = re.compile(r"limit: 0\b")
"""A free tier that allows nothing at all, as Gemini says it."""

OVERFLOW: Final = re.compile(
    r"prompt is too long|input is too long|maximum context length|context (?:length|window|size)[^.]{0,40}exceed"
    r"|exceeds? the (?:available |model'?s? )?(?:maximum )?context|(?:input )?token count[^.]{0,40}exceeds the maximum"
    r"|too large for model with|input length exceeds the context|input tokens exceed|tokens? \+ [^.]{0,40}must be <="
    r"|maximum number of tokens allowed|exceeds the context|reduce the length of the (?:messages|prompt|input)"
    r"|too many (?:input )?tokens in (?:the )?(?:prompt|request)|prompt (?:has|contains) [\d,]+ tokens",
    re.IGNORECASE,
)
REQUEST_TOO_LARGE: Final = re.compile(r"request too large for (?:model )?|single request exceeds", re.IGNORECASE)
"""One request that exceeds a whole minute's window: waiting never helps."""

REFUSAL: Final = re.compile(
    r"content[ -](?:filter|management policy|filtering policy|policy violation)|output blocked by content"
    r"|safety system|input was flagged|was flagged for|response was filtered|flagged by (?:our )?moderation"
    r"|usage policies|blocked by (?:our )?safety",
    re.IGNORECASE,
)
MODEL: Final = re.compile(
    r"model\s?[`'\":]?[^`'\"]{0,120}[`'\"]?\s*(?:does not exist|not found|is not supported|was not found|is not available)"
    r"|model not found|no such model|unknown model|deployment[^.]{0,60}does not exist|model is marked by provider as legacy"
    r"|no endpoints? found",
    re.IGNORECASE,
)
THROTTLE: Final = re.compile(
    r"rate limit (?:exceeded|reached)|exceeded a secondary rate limit|abuse detection mechanism|too many requests"
    r"|request was throttled|rate exceeded|error code: 1015|blocked due to a possible misuse|rate[ -]limited"
    r"|maximum pending requests exceeded|exceeded [\d.]+ calls per second|violation of fair use",
    re.IGNORECASE,
)
QUEUE_FULL: Final = re.compile(r"maximum pending requests exceeded", re.IGNORECASE)
"""A 503 that is a throttle, as Ollama says it; other 503s keep their own meaning, with their wait."""
CAPACITY: Final = re.compile(r"no capacity available|out of capacity|server is overloaded", re.IGNORECASE)
CREDENTIALS: Final = re.compile(
    r"(?:incorrect|invalid|missing|expired|bad|wrong|unknown) (?:or (?:missing|invalid|expired) )?(?:x-)?api[ _-]?key"
    r"|api[ _-]?key (?:not valid|is invalid|expired|is missing|not found)"
    r"|invalid (?:api |access |bearer )?token|bad credentials|bad authorization header|invalid authorization header"
    r"|(?:token|jwt|session) (?:has been |has |is )?(?:expired|revoked)|must be logged in|login attempts? exceeded"
    r"|no (?:cookie )?auth credentials|authentication (?:failed|required)",
    re.IGNORECASE,
)
ROUTE: Final = re.compile(
    r"no route (?:for|matched)|cannot (?:get|post|put|delete|patch) /|endpoint[^.]{0,40}(?:removed|gone|not exist)"
    r"|requested api has been removed|unknown (?:endpoint|route)|no such (?:endpoint|route|api)|route not found",
    re.IGNORECASE,
)
"""The address is wrong: a defect of the tool, not of the model's input."""
