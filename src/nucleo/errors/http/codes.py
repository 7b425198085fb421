"""What the codes of services mean: one table of exact codes by meaning, and the families that codes are built in.

A code here is specific: it beats the status. Coarse ones (``invalid_request_error``, ``INVALID_ARGUMENT``) count only
under a good status, where nothing else speaks. All are in the form of `nucleo.errors.http.fault.normal_code`:
lower-case letters and digits, without a trailing "exception". Bare numbers are no codes here: what 1002 means depends
on who says it, so numbers stand with their host in `nucleo.errors.http.quirks`; only those of JSON-RPC and gRPC are
the same everywhere. Sources: the error references of AWS, Google Cloud (google.api.ErrorReason), Azure, GitHub,
OpenAI, Anthropic, Mistral, Groq, xAI, Qwen, Slack, Stripe, Square, PayPal, Okta, Salesforce, HubSpot, Notion,
Airtable, Dropbox, Contentful, MediaWiki, PubChem, EPO OPS, Reddit, Hugging Face, Docker, Shopify, Google Maps,
Mashery, Apigee, Elasticsearch, Neo4j, PostgREST, Apple APNs, JSON-RPC 2.0, gRPC and OAuth 2.0 (RFC 6749, RFC 6750,
OpenID Connect Core 3.1.2.6).
"""

import re
from enum import Enum
from functools import lru_cache
from typing import Final


class Meaning(Enum):
    """What an answer means, before it has a class."""

    INPUT = "input"
    NOT_FOUND = "not found"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    THROTTLE = "throttle"
    QUOTA = "quota"
    OVERFLOW = "overflow"
    REFUSAL = "refusal"
    MODEL_NOT_FOUND = "model not found"
    SERVICE = "service"


def _table(meaning: Meaning, codes: str) -> dict[str, Meaning]:
    return dict.fromkeys(codes.split(), meaning)


CODES: Final[dict[str, Meaning]] = {
    **_table(
        Meaning.QUOTA,
        """insufficientquota quotaexceeded billinghardlimitreached billingnotactive creditlimit insufficientcredits
        insufficientbalance insufficientcredit dailylimitexceeded usagecapped usagecapexceeded
        creditsdepleted outofcredit outofcredits publicapibillinglimitexceeded paymentrequired
        billinglimitexceeded accountoverdue notenoughcredits nocredits nomorecredits creditsexhausted
        creditexhausted monthlylimitexceeded monthlylimitreached spendlimitreached overquota quotaexhausted
        overquerylimit overdailylimit billingdisabled billingerror planlimitreached usagelimitexceeded
        usagelimitreached registeredquotaperweek individualquotaperweek subscriptionrequired arrearage
        freetierexhausted allocationquotafreetieronly servicequotaexceeded resourcequotaexceeded
        apikeyexhausted storagequotaexceeded storagelimitexceeded exceededcurrentquotaerror
        dailyquotaexceeded monthlyquotaexceeded err403developeroverrate accesslimitreached
        asrpaymentrequired err403accountoverrate gcpsuspended quotalimited insufficientspace
        creditbalancetoolow""",
    ),
    **_table(
        Meaning.THROTTLE,
        """ratelimit ratelimits ratelimited ratelimitexceeded ratelimiterror ratelimitreached ratelimitexceedederror
        ratelimitreachederror toomanyrequests throttling throttled throttlederror throttlingerror
        requestthrottled requestlimitexceeded provisionedthroughputexceeded slowdown bandwidthlimitexceeded
        userratelimitexceeded priorrequestnotcomplete applicationthrottled subscriptionrequeststhrottled
        clientrobotdetected individualquotaperhour maxlag e0000047 pugrestserverbusy serverbusy
        concurrencylimitexceeded concurrentrequestlimitexceeded requestratetoolarge
        toomanyrequestsforoperation operationlimitexceeded slowdownerror apiratelimitexceeded
        toomanyconcurrentrequests sharingratelimitexceeded activitylimitreached enhanceyourcalm
        overratelimit querylimitexceeded requestlimitreached floodwait quotalimitexceeded
        maxconcurrentexecutionsexceeded ec2throttled throughputexceeded transactioninprogress
        ratelimitexceededdaily tensecondlyrolling secondlylimitexceeded throttleviolation requestburst
        err403developeroverqps err403accountoverqps policiesratelimitspikearrestviolation
        throttlingratequota throttlingallocationquota throttlingburstrate toomanyrequestspersecond
        toomanyattemptstrylater esrejectedexecution circuitbreaking
        reservedfunctionconcurrentinvocationlimitexceeded concurrentinvocationlimitexceeded
        callerratelimitexceeded toomanyprovidertokenupdates maxcostexceeded rest429 ratelimitederror
        requestsperminutelimitexceeded -32005""",
    ),
    **_table(
        Meaning.UNAUTHORIZED,
        """invalidapikey apikeyinvalid apikeyexpired missingapikey apikeymissing authenticationerror unauthenticated
        invalidtoken expiredtoken tokenexpired invalidgrant invalidclient unauthorizedclient
        invalidclienttokenid unrecognizedclient signaturedoesnotmatch invalidsignature invalidaccesskeyid
        invalidsessionid itemloginrequired notauthed invalidauth accountinactive tokenrevoked authfailed
        authfailure invalidcredentials badcredentials dailylimitexceededunreg keyinvalid
        authenticationfailed authenticationrequired loginrequired incompletesignature requestexpired
        requesttimetooskewed authtokenexpired invalidaccesstoken accesstokenexpired sessionexpired
        tokeninvalid unauthenticatederror invalidauthentication invalidauthenticationtoken missingtoken
        e0000011 e0000004 lemma401 authorizationheadermalformed oauthexceptioninvalid invalidbearertoken
        invalidauthorization requestdenied credentialsmissing sessioncookieinvalid authenticationfailure
        autherror subscriptiontokeninvalid expiredprovidertoken invalidprovidertoken missingprovidertoken
        expiredauthenticationtoken interactionrequired consentrequired mfarequired invalididtoken
        credentialtoooldloginagain usernotconfirmed pgrst301 pgrst302 pgrst303 err403developerinactive
        err401developerinactive keymanagementserviceinvalidaccesstoken oauthv2invalidapikey
        oauthv2invalidaccesstoken oauthv2failedtoresolveapikey stepsoauthv2failedtoresolveapikey
        stepsoauthv2invalidapikey neoclienterrorsecurityunauthorized neoclienterrorsecuritytokenexpired
        ratelimitedauth accesstokeninvalid tokenunauthorized userauthenticationfailed accesstokenrequired
        invalidconsumer""",
    ),
    **_table(
        Meaning.FORBIDDEN,
        """accessdenied permissiondenied permissionerror authorizationfailed authorizationrequestdenied
        insufficientscope insufficientpermissions insufficientpermission insufficientprivileges
        restrictedresource goldrequired validationrequired unsupportedcountryregionterritory
        developerblocked missingscope missingscopes notallowed notinchannel appnotauthorizedtofile
        cannotaccess unsupportedlocation accountdisabled userlocationnotsupported forbiddenaction
        insufficientfilepermissions domainpolicy accountsuspended servicedisabled accessnotconfigured
        apikeyserviceblocked apikeyhttpreferrerblocked apikeyipaddressblocked apikeyandroidappblocked
        apikeyiosappblocked userprojectdenied consumersuspended consumerinvalid securitypolicyviolated
        accesstokenscopeinsufficient userblockedbyadmin orgrestrictionviolation locationpolicyviolated
        unauthorizedoperation optinrequired linkedauthorizationfailed requestdisallowedbypolicy
        insufficientaccess apidisabledfororg invalidpermissions invalidpermissionsormodelnotfound
        forbiddenerror ipaddressnotonaccesslist scopenotauthorized clientnotenrolled
        notauthorizedforresource disallowedresource neoclienterrorsecurityforbidden err403notauthorized
        accessdeniedinsufficientpermissions restforbidden notauthorizedtoaccess ekmaccessdenied
        teamaccessnotgranted accessterminatederror blockedbyadmin""",
    ),
    **_table(
        Meaning.NOT_FOUND,
        """notfound nosuchkey nosuchentity nosuchbucket resourcenotfound resourcemissing objectnotfound
        queuedoesnotexist awssimplequeueservicenonexistentqueue nonexistentqueue reponotfound
        revisionnotfound entrynotfound serverentitynotfound entitynotfound nosuchhostedzone nosuchuser
        nosuchresource pugrestnotfound channelnotfound usernotfound recordnotfound itemnotfound
        documentnotfound pagenotfound missingtitle tablenotfound indexnotfound unknowndocument nosuchupload
        invalidinstanceidnotfound filenotfound blobnotfound containernotfound notfounderror userdoesnotexist
        e0000007 pgrst116 manifestunknown nameunknown blobunknown unregistered entityisdeleted
        resourcedoesnotexist invalidresourceid nodata nosuchtagset""",
    ),
    **_table(
        Meaning.INPUT,
        """badvalue invalidarguments invalidargs pugrestbadrequest cursorinvalid parameternotallowed carddeclined
        carderror paymentmethoderror instrumentdeclined invalidparameter invalidparametervalue
        missingparameter malformedrequest unknownaction badtoken invalidrequestbody missingparam expiredcard
        incorrectnumber processingerrorcard incorrectcvc soapclient soapsender -32602 -32600 -32700""",
    ),
    **_table(
        Meaning.SERVICE,
        """missingauthenticationtoken modelcapacityexhausted clusterblock fatalerror internalerror overloadederror
        overloaded serviceunavailable modelnotready restnoroute deploymentnotfoundvercel errngrok3200
        messagingadaptorshttpflowapplicationnotfound unabletolockrow soapserver soapreceiver -32601 -32603
        -32000""",
    ),
}
"""A specific code and its meaning; for any service."""

COARSE: Final[dict[str, Meaning]] = {
    **_table(
        Meaning.INPUT,
        """invalidrequest invalidrequesterror invalidargument badrequest failedprecondition outofrange baduserinput
        graphqlvalidationfailed graphqlparsefailed validationfailed validationerror validation parseerror
        persistedquerynotfound undefinedfield argumentnotaccepted grpc3 grpc9 grpc11""",
    ),
    **_table(Meaning.NOT_FOUND, "notfound grpc5"),
    **_table(Meaning.FORBIDDEN, "forbidden permissiondenied grpc7 unauthorizederror"),
    **_table(Meaning.UNAUTHORIZED, "unauthorized unauthenticated oauth grpc16"),
    **_table(Meaning.THROTTLE, "resourceexhausted grpc8"),
    **_table(
        Meaning.SERVICE,
        """internal internalservererror unavailable deadlineexceeded unknown aborted unimplemented cancelled dataloss
        downstreamserviceerror subgraphrequestfailed""",
    ),
}
"""Codes that only repeat a status; they speak where the status is a good one."""

LLM_CODES: Final[dict[str, Meaning]] = {
    **_table(
        Meaning.OVERFLOW,
        """contextlengthexceeded exceedcontextsizeerror contextwindowexceeded contextsizeexceeded promptoolong
        modelcontextwindowexceeded stringabovemaxlengthtokens inputtoolong prompttoolong maxtokensexceeded
        requesttoolarge tokenslimitreached modelmaxprompttokensexceeded contextwindowexceedederror
        contextlengthexceedederror""",
    ),
    **_table(
        Meaning.REFUSAL,
        """contentfilter contentpolicyviolation responsibleaipolicyviolation contentfiltered moderationblocked safety
        promptblocked contentmoderation flaggedcontent sensitivecontent datainspectionfailed refusal
        invalidprompt prohibitedcontent blocklist imagesafety cyberpolicy cyberpolicyviolation spii
        contentblocked safetycheckfailed moderationerror""",
    ),
    **_table(
        Meaning.MODEL_NOT_FOUND,
        """modelnotfound deploymentnotfound modelnotsupported unknownmodel modeldoesnotexist invalidmodel
        modelnotavailable modeldeprecated modelterminated modeldecommissioned invalidmodelid modelnotexist
        modelnotactive modelretired nosuchmodel unsupportedmodel""",
    ),
}
"""Codes that mean something only on a model call."""

UNDER_5XX: Final = frozenset({Meaning.THROTTLE, Meaning.QUOTA})
"""The meanings that a code may give a 5xx: anything else in the body of a broken service is no signal."""
SOAP_CALLER: Final = frozenset({"soapclient", "soapsender"})
"""Fault codes that blame the caller; SOAP sends them under 500, always."""

_SCOPE: Final = (
    r"(?:api|access|auth|authentication|authorization|refresh|bearer|session|security|client|subscription"
    r"|oauth|user|app)"
)
_WHOSE: Final = (
    r"(?:api|app|user|account|project|org|organization|team|global|request|requests|token|tokens|key|client|tenant|search"
    r"|write|read|upstream|provider|hourly|minute|second|daily|monthly|weekly|plan|usage|free|trial|billing|resource)"
)
_FAMILIES: Final[tuple[tuple[re.Pattern[str], Meaning], ...]] = (
    (
        re.compile(
            rf"(?:invalid|expired|missing|revoked|bad|wrong|incorrect|unknown){_SCOPE}{{1,3}}(?:key|token|credentials?|signature|secret)"
            rf"|{_SCOPE}{{1,3}}(?:key|token|credentials?|signature|secret)(?:invalid|expired|missing|revoked|required|disabled|notfound|unverified)"
        ),
        Meaning.UNAUTHORIZED,
    ),
    (
        re.compile(
            rf"{_WHOSE}{{0,3}}(?:ratelimit(?:s|ed|exceeded|reached|error|hit|violation)?|toomanyrequests|throttl(?:ed|ing)(?:error)?)"
        ),
        Meaning.THROTTLE,
    ),
    (
        re.compile(
            rf"(?:insufficient|notenough|nomore|outof)(?:credits?|balance|quota)|{_WHOSE}{{0,3}}(?:quota|credits?|budget|balance|"
            r"spend(?:ing)?(?:limit|cap)|usage(?:limit|cap))(?:exceeded|exhausted|reached|depleted)"
        ),
        Meaning.QUOTA,
    ),
    (
        re.compile(
            r"nosuch(?!model|route|endpoint|method|action|operation|host)[a-z]{2,40}"
            r"|(?![a-z]{0,40}(?:route|endpoint|method|action|operation|url|uri|host|proxy|deployment|model|handler|application|query)"
            r"(?:notfound|doesnotexist|notexists?))[a-z]{2,40}(?:notfound|doesnotexist|notexists?)"
        ),
        Meaning.NOT_FOUND,
    ),
)
_UNDER_GOOD: Final = re.compile(
    r"(?:invalid|malformed|missing|unsupported|unrecognized|neoclienterror|badrequest)[a-z]{2,60}"
)


@lru_cache(maxsize=2048)
def meaning_of_code(code: str) -> Meaning | None:
    """Say what a code means wherever it stands; None for a coarse or unknown one."""
    found = CODES.get(code)
    if found is not None or not code.isalpha():
        return found
    return next((meaning for family, meaning in _FAMILIES if family.fullmatch(code)), None)


def coarse_meaning(code: str) -> Meaning | None:
    """Say what a code means under a good status, where the coarse ones are all there is."""
    found = COARSE.get(code)
    return Meaning.INPUT if found is None and _UNDER_GOOD.fullmatch(code) else found
