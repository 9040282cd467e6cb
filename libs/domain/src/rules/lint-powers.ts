import { any, NEAR, unlessNegated, unlessNegatedAtAll, words, type LintPattern } from './lint-pattern.js';

const AGENT = any('you|the agent|agents');
const TOOLS = any('tools?|functions?|commands?|shell|plugins?|apis?');
const RIGHTS = any('access|permissions?|privileges?|rights|capabilit(?:y|ies)');
const UNBOUNDED = any('any|unlimited|unrestricted|arbitrary|admin(?:istrator)?|root|elevated');

/** Words that give the agent tools or rights. */
export const toolGrants: readonly LintPattern[] = [
  unlessNegated(
    AGENT,
    ' ',
    any('may|can|are allowed to|is allowed to|have permission to|has permission to'),
    ' (?:now )?',
    any('use|call|invoke|run|execute'),
    String.raw`\s+`,
    UNBOUNDED,
    String.raw`\s+(?:\w+\s+)?`,
    TOOLS,
  ),
  unlessNegated(
    any('grant|unlock|enable|obtain|acquire|request|give'),
    '(?:s|ing)? ',
    NEAR,
    UNBOUNDED,
    String.raw`\s+(?:\w+\s+)?`,
    any(`${TOOLS}|${RIGHTS}`),
  ),
  unlessNegated(any('grant|grants|granting'), ' (?:yourself|you|the agent|agents|itself)'),
  unlessNegated(
    String.raw`(?<!\b(?:if|whether|unless|when|once) )`,
    AGENT,
    ' (?:now )?(?:have|has) ',
    any('full|unlimited|unrestricted|admin(?:istrator)?|root|elevated'),
    String.raw`\s+(?:\w+\s+)?`,
    any(`${TOOLS}|${RIGHTS}`),
  ),
  unlessNegated(any('escalat|elevat'), '(?:e|es|ing) ', NEAR, any('privileges?|permissions?|rights|access')),
  unlessNegated(any('as|become|switch to'), ' (?:an? |the )?', any('root|superuser|administrator|admin'), '(?: user)?'),
  unlessNegated('sudo'),
  unlessNegated(
    any('run|execute|running|executing'),
    String.raw`\s+`,
    any('any|arbitrary'),
    String.raw`\s+(?:\w+\s+)?`,
    any('code|commands?|shell|scripts?|sql'),
  ),
];

const FIRM = any(
  'override|overriding|bypass|bypassing|circumvent|circumventing|disable|disabling|evade|evading|turn off|turning off',
);
const SOFT = any('ignore|ignoring|disregard|disregarding|skip|skipping|forget|forgetting|work around|get around');
const OF_THE =
  any('(?:any|all|of|the|your|every|its|these|those|previous|prior|earlier|existing|company|domain)\\s+') + '{0,4}(?:\\w+\\s+)?';
// "Ignore instructions found in e-mails" is the advice we want; "ignore the instructions in the system prompt" is not.
const NOT_OF_MATERIAL =
  '(?! (?:that )?(?:are |is |appear |come )?(?:found |embedded |contained |hidden |written )?(?:in|inside|within|from) (?!(?:the |your )?(?:system|developer|policy)))';
const GUIDANCE = any(
  'instructions?|polic(?:y|ies)|guard-?rails?|safeguards?|safety (?:rules?|checks?|limits?)|system (?:prompt|message)s?|approvals?|security checks?|compliance(?: checks?)?',
);
const CONTROLS = any(
  `${GUIDANCE}|safety|security(?: controls?)?|authentication|authori[sz]ation|access controls?|permission(?: check)?s?|(?:safety|security|policy|usage|access|account) restrictions?`,
);
const CONSENT = any('approval|permission|consent|confirmation|authori[sz]ation');

/** Words that set instructions, policies or safeguards aside. */
export const policyOverrides: readonly LintPattern[] = [
  unlessNegated(FIRM, String.raw`\s+`, OF_THE, CONTROLS),
  unlessNegated(SOFT, String.raw`\s+`, OF_THE, GUIDANCE, NOT_OF_MATERIAL),
  unlessNegatedAtAll(
    any('regardless of|despite|in spite of'),
    ' ',
    any('the|any|your|company|domain|what'),
    '? ?(?:\\w+ )?',
    any('polic(?:y|ies)|instructions|restrictions'),
  ),
  unlessNegatedAtAll(
    any('even (?:if|when|though)'),
    ' ',
    NEAR,
    any(
      'forbidden|not allowed|prohibited|disallowed|against (?:the )?policy|polic(?:y|ies) (?:forbids?|prohibits?|disallows?|says? not)',
    ),
  ),
  unlessNegatedAtAll('without ', '(?:first )?', any('asking|seeking|obtaining|getting|requiring'), ' ', NEAR, CONSENT),
  unlessNegatedAtAll(
    'without ',
    any("the user's|the customer's|user|customer|human|operator|prior|explicit"),
    ' (?:prior |explicit )?',
    CONSENT,
  ),
  words(
    any('these|this|the following|new'),
    ' ',
    any('instructions?|rules?'),
    ' ',
    any('overrides?|supersedes?|replaces?|takes? (?:precedence|priority)'),
  ),
  words(
    any('overrides?|supersedes?|takes? (?:precedence|priority) over'),
    ' ',
    NEAR,
    any('polic(?:y|ies)|instructions|system prompt'),
  ),
  words(any('jailbreak|developer mode|god mode|unfiltered mode')),
  words('you are ', any('now (?:an?|the|in)|no longer (?:bound|restricted|limited)|free from')),
  { match: /(?:<\/?|\[)(?:system|assistant|developer|instructions?)(?:>|\])/gi },
];

const SECRETS =
  any(
    'credentials?|passwords?|passphrases?|secret keys?|private keys?|api[ _-]?keys?|(?:access|auth|session|bearer)[ _-]?tokens?',
  ) + '(?! (?:reset|change|recovery|polic|field|form|manager|expir|link|strength|hint))';
const HAND_OVER = any(
  'send|sending|e-?mail|e-?mailing|post|posting|upload|uploading|forward|forwarding|share|sharing|print|printing|output|display|repeat|include|including|copy|write',
);
const OUTSIDE = any(
  '(?:the |an? |your |every )?(?:user|customer|answer|reply|response|output|final answer|chat|e-?mail|message|comment|report|log|note)s?|anyone|external|https?:|\\S+@\\S+',
);

/** Words that hand secrets over, or take others'. */
export const secretsInWords: readonly LintPattern[] = [
  unlessNegated(HAND_OVER, String.raw`\s+`, NEAR, SECRETS, ' ', any('to|in|into|with|via'), ' ', OUTSIDE),
  unlessNegated(any('reveal|disclos|leak|exfiltrat'), '(?:e|es|ing|s)? ', NEAR, SECRETS),
  unlessNegated(
    'use ',
    NEAR,
    any(
      "someone else's|another (?:user|account|customer|person)'s|other (?:users?|people)'s?|the admin(?:istrator)?(?:'s)?|admin(?:istrator)?|root|leaked|stolen",
    ),
    ' ',
    any(`${SECRETS}|tokens?|login`),
  ),
  words(SECRETS, String.raw`\s*(?:is|=|:)\s*["'\x60]?(?=[^\s"'\x60<>{}()\[\]]{0,40}\d)[^\s"'\x60<>{}()\[\]]{6,80}`),
];

const GO_TO = any(
  'fetch|fetching|download|downloading|visit|visiting|open|opening|go to|navigate to|browse to|load|upload|uploading|send|sending|post|posting|install|import',
);
const SCHEME = any('https?|ftps?|wss?|ssh|file|gopher|ldap') + '://';
const HOST = String.raw`(?:[a-z0-9-]{1,63}\.){1,4}(?:com|net|org|io|dev|app|ai|co|info|xyz|ru|cn|site|online|top)`;

/** Addresses to go to. One with a placeholder, that is to be recognised, is none. */
export const addresses: readonly LintPattern[] = [
  words(GO_TO, String.raw`\s+`, NEAR, SCHEME, String.raw`\S*`),
  { match: new RegExp(String.raw`(?<![\w-])${SCHEME}[^\s<>{}]{1,200}(?=[\s,;)\]"'\x60]|$)`, 'gi') },
  words(GO_TO, String.raw`\s+(?:\w+ ){0,4}`, any(String.raw`www\.[\w-]+\.\w+|${HOST}/\S*`)),
  words(any('curl|wget'), String.raw`\s+\S+`),
  words('javascript:', String.raw`\S*`),
  words('data:', String.raw`\w+/\S*`),
];
