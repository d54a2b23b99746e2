import {
  mayHaveArguments,
  mayHavePairs,
  redactArguments,
  redactAssigned,
  redactFlags,
  redactFrom,
  redactPairs,
} from './assigned-secrets.js'
import { REDACTED } from './secrets.js'
import {
  mayHaveStatements,
  redactParseErrors,
  redactPhrases,
  redactStatements,
} from './spoken-secrets.js'

/** A kind of secret that is recognisable in any text. */
interface SecretValue {
  /** False for texts that cannot contain it; cheap. */
  mayBeIn(text: string): boolean
  /** The text without the secrets. Takes time in proportion to its length. */
  redactIn(text: string): string
}

// No expression below may fail after it has read a part of unbounded length. It would read that part
// again from each following position, so a hostile text would take quadratic time. No expression may
// repeat a group either, because that uses stack.

/** Keys that a prefix identifies, with the characters that follow it. */
const PREFIXED = [
  'gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\\w{20,}', // GitHub
  'gl[a-z]{2,6}-[\\w-]{20,}|GR1348941[\\w-]{20,}', // GitLab
  'xox[abeoprs]-[\\w-]{10,}|xapp-[\\w-]{10,}', // Slack
  '[rs]k_(?:live|test|prod)_\\w{10,}|whsec_[\\w+/=]{16,}', // Stripe
  '(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[\\w+/=-]{20,}', // AWS session tokens
  'AIza[\\w-]{35}|ya29\\.[\\w-]{20,}|GOCSPX-[\\w-]{20,}', // Google
  '(?<![A-Za-z0-9])sk-[\\w-]{20,}', // OpenAI, Anthropic
  'npm_[A-Za-z0-9]{30,}|pypi-AgEI[\\w-]{20,}|dckr_pat_[\\w-]{20,}|hf_[A-Za-z]{30,}', // registries
  'SG\\.[\\w-]{16,32}\\.[\\w-]{16,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{30,}', // SendGrid, Shopify
  'do[opr]_v1_[a-f0-9]{60,}|hv[sbr]\\.[\\w-]{20,}|glsa_\\w{20,}|dapi[a-f0-9]{32}', // infrastructure
  'PMAK-[\\w-]{20,}|lin_api_\\w{30,}|ATATT3[\\w=-]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}', // others
].join('|')

/** A kind of secret that one expression finds, which `show` replaces. */
const found = (
  mayBeIn: (text: string) => boolean,
  expression: RegExp,
  show: (match: string, ...groups: string[]) => string,
): SecretValue => ({ mayBeIn, redactIn: (text) => text.replaceAll(expression, show) })

const has = (part: string) => (text: string) => text.includes(part)

const PEM_HEAD = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g
const PEM_FOOT = /-----(?:END[A-Z0-9 ]{0,60}(?:-----)?|$)/y

/** Private keys in PEM, each to its end or to the end of the text. */
function redactPem(text: string): string {
  return redactFrom(text, PEM_HEAD, (head) => {
    const dashes = text.indexOf('-----', head.index + head[0].length)
    PEM_FOOT.lastIndex = dashes === -1 ? text.length : dashes
    const end = PEM_FOOT.lastIndex + (PEM_FOOT.exec(text)?.[0].length ?? 0)
    return [head.index, end]
  })
}

/** Passwords in URLs. A colon and digits after the host are a port. */
const urlPassword = found(
  (text) => text.includes('://') && text.includes('@'),
  /:\/\/([^\s:@/?#"'<>]*):(?!\d{1,5}(?:[/?#\s"'<>,;)\]]|$))[^\s@"'<>]*@?/g,
  (match, user) => (match.endsWith('@') ? `://${user}:${REDACTED}@` : match),
)

/** Addresses that anybody may post to who knows the rest of the URL. */
const WEBHOOK_HOSTS = [
  'hooks\\.slack(?:-gov)?\\.com/',
  'discord(?:app)?\\.com/api/(?:v\\d{1,3}/)?webhooks/',
  'webhook\\.office(?:365)?\\.com/|outlook\\.office(?:365)?\\.com/webhook', // Teams
  '(?:logic\\.azure\\.com|api\\.powerplatform\\.com)(?::\\d{1,5})?/', // Power Automate
  'api\\.telegram\\.org/(?:file/)?bot',
  'hooks\\.zapier\\.com/|hooks?\\.(?:[a-z\\d]{1,9}\\.)?make\\.com/|maker\\.ifttt\\.com/trigger/',
  'chat\\.googleapis\\.com/v1/spaces/|hooks\\.chime\\.aws/incomingwebhooks/',
  'open\\.(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/', // Lark
  'oapi\\.dingtalk\\.com/robot/|qyapi\\.weixin\\.qq\\.com/cgi-bin/webhook/',
  'events\\.pagerduty\\.com/(?:integration|x-ere)/|webhook\\.site/',
].join('|')

const webhook = found(
  (text) => text.includes('/') && /\.(?:com|org|aws|cn|site)[:/]/i.test(text),
  new RegExp(`(${WEBHOOK_HOSTS})[^\\s"'<>\\\\]{6,}`, 'gi'),
  (_, host) => host + REDACTED,
)

/** Tokens of Telegram bots. */
const botToken = found(has(':AA'), /(?<![A-Za-z0-9])\d{6,12}:AA[\w-]{30,}/g, () => REDACTED)

const isBasic = (value: string): boolean =>
  /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(value.slice(0, 1000), 'base64').toString('latin1'))

/** `Bearer` and `Basic`, but not where prose speaks of them: "Basic authentication". */
const scheme = found(
  (text) => /bearer|basic/i.test(text),
  /(?<![A-Za-z0-9])(bearer|basic)(\s{1,4})([\w.~+/=-]{4,})/gi,
  (match, name, space, value) => {
    const isSecret =
      name.toLowerCase() === 'basic'
        ? isBasic(value)
        : value.length >= 24 || (value.length >= 6 && /[\d+/=_~]|[a-z][A-Z]/.test(value))
    return isSecret ? `${name}${space}${REDACTED}` : match
  },
)

const kindOf = (character: string): string =>
  character >= 'a' ? 'a' : character >= 'A' ? 'A' : character >= '0' ? '0' : '+'

/** True if 40 characters of base64 look random, as names, paths and hexadecimal digests do not. */
function isRandom(text: string): boolean {
  let changes = 0
  const counts: Record<string, number> = { a: 0, A: 0, 0: 0, '+': 0 }
  let last = ''
  for (const character of text) {
    const kind = kindOf(character)
    counts[kind]!++
    if (kind !== last) changes++
    last = kind
  }
  return counts['a']! >= 5 && counts['A']! >= 5 && counts['0']! >= 1 && changes >= 16
}

const PREFIX = new RegExp(PREFIXED, 'g')
const JSON_WEB_TOKEN = /eyJ[\w.-]*/g
const AWS_SECRET = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_-])/g

function isToken(text: string): boolean {
  const [header = '', payload = ''] = text.split('.', 2)
  return header.length >= 12 && payload.length >= 2
}

const MIN_RUN = 16
/** Every token has characters besides these two kinds: small letters and slashes, as in paths. */
const PLAIN = 1
const TELLING = 2
/** The kind of each character of tokens and keys, by its code; 0 for other characters. */
const RUN_CHARACTERS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /[a-z/]/.test(character) ? PLAIN : /[\w+=.~-]/.test(character) ? TELLING : 0
})

/** Redacts characters without white space. Key ids of AWS, `AKIA…`, are not secret. */
function redactRun(run: string): string {
  let shown = run.replaceAll(PREFIX, REDACTED)
  if (shown.includes('eyJ'))
    shown = shown.replaceAll(JSON_WEB_TOKEN, (match) => (isToken(match) ? REDACTED : match))
  if (shown.length < 40) return shown
  return shown.replaceAll(AWS_SECRET, (match) => (isRandom(match) ? REDACTED : match))
}

/** Tokens and keys, which are in runs of at least 16 characters. Prose has few such runs. */
function redactRuns(text: string): string {
  let shown = ''
  let at = 0
  let start = 0
  let kinds = 0
  for (let i = 0; i <= text.length; i++) {
    const kind = i < text.length ? (RUN_CHARACTERS[text.charCodeAt(i)] ?? 0) : 0
    kinds |= kind
    if (kind !== 0) continue
    if (i - start >= MIN_RUN && kinds > PLAIN) {
      const run = text.slice(start, i)
      const redacted = redactRun(run)
      if (redacted !== run) {
        shown += text.slice(at, start) + redacted
        at = i
      }
    }
    start = i + 1
    kinds = 0
  }
  return shown + text.slice(at)
}

const SECRET_VALUES: readonly SecretValue[] = [
  { mayBeIn: has('PRIVATE KEY'), redactIn: redactPem },
  urlPassword,
  webhook,
  botToken,
  { mayBeIn: has('JSON'), redactIn: redactParseErrors },
  { mayBeIn: mayHavePairs, redactIn: redactPairs },
  {
    mayBeIn: mayHaveStatements,
    redactIn: redactStatements,
  },
  { mayBeIn: (text) => /[:=>：＝→]/.test(text), redactIn: redactAssigned },
  { mayBeIn: has(' -'), redactIn: redactFlags },
  { mayBeIn: mayHaveArguments, redactIn: redactArguments },
  {
    mayBeIn: (text) => /\s(?:is|was|ist|es|est|er|e|é|è|är|jest)\s/.test(text),
    redactIn: redactPhrases,
  },
  scheme,
  { mayBeIn: (text) => text.length >= MIN_RUN, redactIn: redactRuns },
]

const MIN_LENGTH = 5

/**
 * The text with the secrets in it that are recognisable replaced by `[redacted]`: private keys in PEM,
 * passwords in URLs, URLs of webhooks, values after the name of a secret (`password=…`, `"token": "…"`, `the password is …`), what an
 * error quotes of a text that is not JSON, Basic and Bearer credentials, JSON Web Tokens, keys of services with a known prefix, and secret keys of AWS. Takes time
 * in proportion to the length of the text.
 */
export function redactText(text: string): string {
  if (text.length < MIN_LENGTH) return text
  try {
    return SECRET_VALUES.reduce(
      (shown, kind) => (kind.mayBeIn(shown) ? kind.redactIn(shown) : shown),
      text,
    )
  } catch {
    // The expressions have run out of stack, with a text of many megabytes.
    return REDACTED
  }
}
