import { LRUCache } from 'lru-cache'
import type { AuditLog } from '../../audit-log.js'
import { AuditLogs } from '../../audit-logs.js'
import { LANGUAGES, type Language } from '../../describing/language.js'
import { AuditLogError } from '../../errors.js'
import {
  CHALLENGE_OPTIONS,
  type ChallengeOptions,
  readChallenge,
  requireUser,
} from '../challenge.js'
import type { Content, HttpRequest, HttpResponse } from '../exchange.js'
import { DEFAULT_PATH } from '../events/endpoint.js'
import { type Compress, compressBest, finalizeResponse } from '../finalize-response.js'
import { type CallHost, respondToErrors } from '../host-calls.js'
import { preferredLanguage } from '../languages.js'
import { DEFAULT_LOGS_PATH } from '../logs/endpoint.js'
import { isUnder, type Mount, mountsOf } from '../mounts.js'
import { HttpProblem } from '../problem.js'
import { APPEARANCE_OPTIONS, type AppearanceOptions, readAppearance } from './appearance.js'
import { type PageFiles, pageFolder, readPage } from './files.js'
import { escapeHtml } from './escape-html.js'
import { frameAncestors } from './frame-ancestors.js'
import { isNavigation, readSignIn } from './sign-in.js'
import {
  apiOfLogs,
  readShownLogs,
  redirectToColumns,
  type ShownLogs,
  withLogsLink,
} from './shown-logs.js'
import { checkOptions, type OptionNames } from '../../options.js'
import { USERNAME_OPTION, type UsernameOption } from '../username-option.js'

export interface AuditPageOptions extends AppearanceOptions, ChallengeOptions {
  /**
   * The path of the page; paths below it belong to the page too. It is the whole path that clients send,
   * even if the host mounts this under another path.
   * @default '/audit'
   */
  readonly path?: string
  /**
   * The path of the event feed of the same log; for many logs, the path of their endpoints.
   * @default the path of this log's `auditRoutes`, else '/api/events'; for many logs, the path of `logRoutes`, else '/api/logs'
   */
  readonly api?: string
  /** The name of the service, shown at the top and in the title. @default '' */
  readonly name?: string
  /**
   * The language of the page's texts, `en` or `de`. Users can choose another one in the page.
   * @default the one that the browser prefers by `Accept-Language`, else `en`
   */
  readonly language?: Language
  /**
   * The sign-in page of the service: a path, or an `http` or `https` URL. A browser that opens the page without a user is
   * redirected there, and other requests without a user are answered with 401, by default without a challenge. The query of the
   * page is not passed on; `/login?next=/audit` is a path too.
   * @default browsers are answered with 401 too
   */
  readonly signIn?: string
  /**
   * Sites that may show the page in a frame: origins such as `https://admin.example.com`, and `'self'` for the origin of the
   * page. Throws `INVALID_OPTION` for anything else, `*` included.
   * @default none
   */
  readonly frameAncestors?: readonly string[]
}

const PAGE_OPTIONS: OptionNames<AuditPageOptions & UsernameOption<unknown>> = {
  ...APPEARANCE_OPTIONS,
  path: true,
  api: true,
  name: true,
  language: true,
  ...CHALLENGE_OPTIONS,
  signIn: true,
  frameAncestors: true,
  ...USERNAME_OPTION,
}

/** A log, or many logs. The user chooses some of the many. */
export type PageAudit = Pick<AuditLog, 'list'> | AuditLogs

export const DEFAULT_PAGE_PATH = '/audit'

/** No inline code, no other origins, and no text that becomes markup or script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
]

const securityHeaders = (origins: readonly string[] | undefined) => ({
  'content-security-policy': [...POLICY, frameAncestors(origins)].join('; '),
  // Windows that other sites open get no handle of the page.
  'cross-origin-opener-policy': 'same-origin',
  // The address contains the user's query.
  'referrer-policy': 'no-referrer',
})

const REVALIDATE = 'private, no-cache'
const IMMUTABLE = 'private, max-age=31536000, immutable'

/** The link that loads a language's texts in parallel with the script. */
const LANGUAGE_LINK = /<link rel="modulepreload" hreflang="(\w+)"[^>]*>\s*/g

/** Fills the placeholders of the document and makes its asset paths absolute. */
function fillDocument(
  document: string,
  path: string,
  values: Readonly<Record<string, string | undefined>>,
): string {
  return document
    .replaceAll(LANGUAGE_LINK, (link, tag: string) => (tag === values['language'] ? link : ''))
    .replaceAll('"./', () => `"${escapeHtml(path)}/`)
    .replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => escapeHtml(values[key] ?? ''))
}

/** More than the page has files. Documents differ by mount, language and the chosen logs. */
const MAX_COMPRESSED = 300

const newCache = (): LRUCache<Content, Promise<Uint8Array>> => new LRUCache({ max: MAX_COMPRESSED })
const cached = { br: newCache(), gzip: newCache() }

/** Compresses each text once per coding: the highest levels take half a second for all files of the page. */
const compressOnce: Compress = (coding, text) => {
  const compressed = cached[coding].get(text) ?? compressBest(coding, text)
  cached[coding].set(text, compressed)
  return compressed
}

const documentHeaders = (language: Language | undefined) => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': REVALIDATE,
  ...(language === undefined && { vary: 'Accept-Encoding, Accept-Language' }),
})

/** The script of the element that shows the page in a frame. Other sites load it, and it holds no data. */
const FRAME_ELEMENT = 'daybook-page.js'
const FOR_OTHER_SITES = { 'cross-origin-resource-policy': 'cross-origin' }

const withSheet = (document: string, path: string | undefined): string =>
  path === undefined
    ? document
    : document.replace('</head>', `<link rel="stylesheet" href="./${path}" /></head>`)

/** The path without a slash at its end. Throws `INVALID_OPTION` for the root, where the page would take every path. */
function readMount(path: string): string {
  const mount = path.replace(/\/+$/, '')
  if (/^\/[^/]/.test(mount)) return mount
  throw new AuditLogError(
    'INVALID_OPTION',
    `path must be an absolute path such as ${DEFAULT_PAGE_PATH}, and not the root; it is ${JSON.stringify(path)}`,
  )
}

function checkLanguage(language: Language | undefined): void {
  if (language === undefined || LANGUAGES.includes(language)) return
  throw new AuditLogError(
    'INVALID_OPTION',
    `language must be one of ${LANGUAGES.join(', ')}; it is ${JSON.stringify(language)}`,
  )
}

/** Where browsers are led to a sign-in page, they need no login dialog. */
const withSignIn = (options: ChallengeOptions, signIn: string | undefined): ChallengeOptions =>
  signIn === undefined || options.challenge !== undefined
    ? options
    : { ...options, challenge: false }

function checkMethod({ method, path }: HttpRequest): void {
  if (method !== 'GET' && method !== 'HEAD')
    throw new HttpProblem('METHOD_NOT_ALLOWED', `${path} takes GET, HEAD`, {
      headers: { allow: 'GET, HEAD' },
    })
}

/**
 * The page as a function from request to response that any HTTP server can mount. Returns `undefined`
 * synchronously for paths outside of the page. Any authenticated user gets the page; its data come
 * from the event feed, which checks permissions.
 */
export function pageEndpoint(
  audit: PageAudit,
  options: AuditPageOptions = {},
): (request: HttpRequest) => Promise<HttpResponse> | undefined {
  checkOptions(options, PAGE_OPTIONS, 'auditPage')
  const { path = DEFAULT_PAGE_PATH, name = '', language } = options
  const mount = readMount(path)
  const signIn = readSignIn(options.signIn, mount)
  const unauthenticated = readChallenge(withSignIn(options, signIn))
  checkLanguage(language)
  const { title, logo, sheet } = readAppearance(options)
  const security = securityHeaders(options.frameAncestors)
  const folder = pageFolder()
  let files: Promise<PageFiles> | undefined

  // Looked up per request, as the feed and the subscriptions may be mounted after the page.
  const mounted = (kind: Mount['kind']): string | undefined =>
    mountsOf(audit).find((other) => other.kind === kind)?.path

  const values = (
    request: HttpRequest,
    shown: ShownLogs | undefined,
  ): Readonly<Record<string, string | undefined>> => ({
    language: language ?? preferredLanguage(request.header('accept-language')),
    mount,
    title,
    logo,
    ...(audit instanceof AuditLogs
      ? apiOfLogs(options.api ?? mounted('logs') ?? DEFAULT_LOGS_PATH, shown)
      : { api: options.api ?? mounted('feed') ?? DEFAULT_PATH }),
    name,
    subscriptions: mounted('subscriptions'),
    channels: mounted('notification_channels'),
    views: mounted('views'),
  })

  const ok = (text: string, headers: Readonly<Record<string, string>>): HttpResponse => ({
    status: 200,
    headers: { vary: 'Accept-Encoding', ...headers, ...security },
    body: text,
  })

  const find = async (request: HttpRequest, under: string): Promise<HttpResponse> => {
    files ??= readPage(folder)
    const { document, assets } = await files
    const shown = audit instanceof AuditLogs ? readShownLogs(under) : undefined
    if (under === '' || shown) {
      const location = shown && redirectToColumns(request, shown)
      if (location !== undefined) return { ...ok('', { location }), status: 302 }
      const filled = values(request, shown)
      const whole = withLogsLink(withSheet(document, sheet?.path), shown, filled)
      return ok(fillDocument(whole, mount, filled), documentHeaders(language))
    }
    const asset = under === sheet?.path ? sheet.asset : assets.get(under)
    if (!asset) throw new HttpProblem('NOT_FOUND', `there is nothing at ${mount}/${under}`)
    return ok(asset.text, {
      ...(under === FRAME_ELEMENT && FOR_OTHER_SITES),
      'content-type': asset.type,
      'cache-control': asset.isHashed ? IMMUTABLE : REVALIDATE,
    })
  }

  const answer = async (request: HttpRequest, callHost: CallHost): Promise<HttpResponse> => {
    const username = await callHost(() => request.username)
    if (!username && signIn !== undefined && isNavigation(request))
      return { ...ok('', { location: signIn, 'cache-control': 'no-store' }), status: 303 }
    requireUser(username, unauthenticated)
    checkMethod(request)
    const response = await find(request, request.path.slice(mount.length).replace(/^\//, ''))
    return finalizeResponse(request, response, compressOnce)
  }

  return (request) =>
    isUnder(request.path, mount)
      ? respondToErrors((callHost) => answer(request, callHost))
      : undefined
}
