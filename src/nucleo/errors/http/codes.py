"""What the codes of services mean, exactly matched: one table, by meaning.

A code here is specific: it beats the status. Coarse ones (``invalid_request_error``, ``INVALID_ARGUMENT``) are left out
on purpose. All are in the form of `nucleo.errors.http.fault.normal_code`: lower-case letters and digits, without a
trailing "exception". Sources: the error references of AWS, Google Cloud, Azure, GitHub, OpenAI, Anthropic, Mistral,
Groq, xAI, Slack, Stripe, Okta, Salesforce, Notion, MediaWiki, PubChem, EPO OPS, Reddit, Hugging Face, Docker, Shopify,
Google Maps, Zhipu, MiniMax and OAuth 2.0 (RFC 6749, RFC 6750).
"""

from enum import Enum
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
        insufficientbalance insufficientcredit dailylimitexceeded usagecapped outofcredit outofcredits
        publicapibillinglimitexceeded paymentrequired billinglimitexceeded accountoverdue notenoughcredits
        nocredits creditsexhausted creditexhausted monthlylimitexceeded spendlimitreached overquota quotaexhausted
        overquerylimit billingdisabled billingerror planlimitreached usagelimitexceeded usagelimitreached
        registeredquotaperweek individualquotaperweek 1113 subscriptionrequired arrearage freetierexhausted""",
    ),
    **_table(
        Meaning.THROTTLE,
        """ratelimit ratelimited ratelimitexceeded ratelimiterror ratelimitreached ratelimitexceedederror
        toomanyrequests throttling throttled throttlederror throttlingerror requestthrottled requestlimitexceeded
        provisionedthroughputexceeded slowdown bandwidthlimitexceeded userratelimitexceeded priorrequestnotcomplete
        applicationthrottled subscriptionrequeststhrottled clientrobotdetected individualquotaperhour maxlag
        e0000047 pugrestserverbusy serverbusy concurrencylimitexceeded concurrentrequestlimitexceeded
        requestratetoolarge toomanyrequestsforoperation operationlimitexceeded ratelimitedexceeded slowdownerror
        rate1300 ratelimitexceededperminute callsratelimit apiratelimitexceeded toomanyconcurrentrequests
        sharingratelimitexceeded activitylimitreached enhanceyourcalm overratelimit querylimitexceeded
        requestlimitreached floodwait quotalimitexceeded maxconcurrentexecutionsexceeded ec2throttled
        throughputexceeded transactioninprogress requestthrottledbyservice ratelimitexceededdaily
        tensecondlyrolling secondlylimitexceeded""",
    ),
    **_table(
        Meaning.UNAUTHORIZED,
        """invalidapikey apikeyinvalid apikeyexpired missingapikey apikeymissing authenticationerror unauthenticated
        invalidtoken expiredtoken tokenexpired invalidgrant invalidclient unauthorizedclient invalidclienttokenid
        unrecognizedclient signaturedoesnotmatch invalidsignature invalidaccesskeyid invalidsessionid
        itemloginrequired notauthed invalidauth accountinactive tokenrevoked authfailed invalidcredentials
        badcredentials dailylimitexceededunreg keyinvalid authenticationfailed authenticationrequired loginrequired
        incompletesignature requestexpired requesttimetooskewed authtokenexpired invalidaccesstoken accesstokenexpired
        sessionexpired tokeninvalid unauthenticatederror invalidauthentication invalidauthenticationtoken
        missingtoken e0000011 e0000004 lemma401 authorizationheadermalformed oauthexception invalidbearertoken
        invalidauthorization requestdenied""",
    ),
    **_table(
        Meaning.FORBIDDEN,
        """accessdenied permissiondenied permissionerror authorizationfailed authorizationrequestdenied
        insufficientscope insufficientpermissions insufficientprivileges restrictedresource goldrequired
        validationrequired unsupportedcountryregionterritory developerblocked missingscope notallowed notinchannel
        appnotauthorizedtofile cannotaccess unsupportedlocation accountdisabled userlocationnotsupported forbiddenaction
        insufficientfilepermissions domainpolicy accountsuspended consentrequired""",
    ),
    **_table(
        Meaning.NOT_FOUND,
        """notfound nosuchkey nosuchentity nosuchbucket resourcenotfound resourcemissing objectnotfound
        queuedoesnotexist awssimplequeueservicenonexistentqueue nonexistentqueue reponotfound revisionnotfound
        entrynotfound serverentitynotfound entitynotfound nosuchhostedzone nosuchuser nosuchresource pugrestnotfound
        channelnotfound usernotfound recordnotfound itemnotfound documentnotfound pagenotfound missingtitle
        tablenotfound indexnotfound unknowndocument nosuchupload invalidinstanceidnotfound filenotfound blobnotfound
        containernotfound notfounderror userdoesnotexist e0000007""",
    ),
    **_table(
        Meaning.INPUT,
        """badvalue invalidarguments invalidargs pugrestbadrequest cursorinvalid parameternotallowed carddeclined
        invalidparameter invalidparametervalue missingparameter malformedrequest unknownaction badtoken
        invalidrequestbody nodata missingparam invalidparameterexception expiredcard incorrectnumber
        processingerrorcard""",
    ),
    **_table(
        Meaning.SERVICE,
        """missingauthenticationtoken modelcapacityexhausted clusterblock clusterblockexception fatalerror
        internalerror overloadederror overloaded serviceunavailable""",
    ),
}
"""A specific code and its meaning; for any service."""

LLM_CODES: Final[dict[str, Meaning]] = {
    **_table(
        Meaning.OVERFLOW,
        """contextlengthexceeded exceedcontextsizeerror contextwindowexceeded contextsizeexceeded promptoolong
        modelcontextwindowexceeded stringabovemaxlengthtokens inputtoolong prompttoolong maxtokensexceeded
        requesttoolarge 3051""",
    ),
    **_table(
        Meaning.REFUSAL,
        """contentfilter contentpolicyviolation responsibleaipolicyviolation contentfiltered moderationblocked
        safety promptblocked contentmoderation flaggedcontent sensitivecontent datainspectionfailed 1301 refusal""",
    ),
    **_table(
        Meaning.MODEL_NOT_FOUND,
        """modelnotfound deploymentnotfound modelnotsupported unknownmodel modeldoesnotexist invalidmodel
        modelnotavailable modeldeprecated modelterminated 1211""",
    ),
}
"""Codes that mean something only on a model call."""

UNDER_5XX: Final = frozenset({Meaning.THROTTLE, Meaning.QUOTA})
"""The meanings that a code may give a 5xx: anything else in the body of a broken service is no signal."""
