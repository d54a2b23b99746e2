import type { AuditLog } from '../../audit-log.js'
import { AuditLogError } from '../../errors.js'
import { challenge } from '../basic-auth.js'
import type { Content, HttpRequest, HttpResponse } from '../exchange.js'
import { DEFAULT_PATH, isUnder } from '../events/endpoint.js'
import { type Compress, compressSmall, finish } from '../finish.js'
import { declareMount, mountsOf } from '../mounts.js'
import { errorResponse, HttpProblem } from '../problem.js'
import { type PageAsset, type PageFiles, readPage } from './files.js'

export interface AuditPageOptions {
  /**
   * Where the page is: `<path>` and all that is under it. It is the path that clients send, also where
   * the host mounts this under another path.
   * @default '/audit'
   */
  readonly path?: string
  /**
   * Where clients find the event feed of the same log.
   * @default where `auditRoutes` of this log are mounted, else '/api/events'
   */
  readonly api?: string
  /** What the service is called, shown at the top and in the title. @default '' */
  readonly name?: string
  /** Realm of the challenge that goes with a 401. @default 'Daybook' */
  readonly realm?: string
}

/** The log whose page it is. */
export type PageAudit = Pick<AuditLog, 'list'>

const DEFAULT_PAGE_PATH = '/audit'

/** Nothing inline, nothing from elsewhere, and no text that becomes markup or script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const SAFETY = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  // Addresses of the page hold what people look for.
  'referrer-policy': 'no-referrer',
}

const VARIED = { vary: 'Accept-Encoding' }
const REVALIDATED = 'private, no-cache'
const KEPT = 'private, max-age=31536000, immutable'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => ESCAPES[sign]!)

/** The document for where it is mounted. */
function placed(document: string, path: string, api: string, name: string): string {
  const values: Readonly<Record<string, string>> = { api, name }
  return document
    .replaceAll('"./', () => `"${escapeHtml(path)}/`)
    .replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => escapeHtml(values[key] ?? ''))
}

type Bytes = Promise<Uint8Array>

/** Each text is compressed once in each coding. */
function compressOnce(): Compress {
  const done = { br: new Map<Content, Bytes>(), gzip: new Map<Content, Bytes>() }
  return (coding, text) => {
    const compressed = done[coding].get(text) ?? compressSmall(coding, text)
    done[coding].set(text, compressed)
    return compressed
  }
}

const ok = (text: string, type: string, caching: string): HttpResponse => ({
  status: 200,
  headers: { 'content-type': type, 'cache-control': caching, ...VARIED, ...SAFETY },
  body: text,
})

/**
 * The page as a function from a request to a response that any HTTP server can mount; `undefined`, at
 * once, for a path that is not its own. It is served to whoever is authenticated, and reads from the
 * event feed, which decides what is shown.
 */
export function pageEndpoint(
  audit: PageAudit,
  options: AuditPageOptions = {},
): (request: HttpRequest) => Promise<HttpResponse> | undefined {
  const { path = DEFAULT_PAGE_PATH, name = '', realm = 'Daybook' } = options
  const mount = path.replace(/\/+$/, '')
  // All that is under the root would be the page's.
  if (!/^\/[^/]/.test(mount))
    throw new AuditLogError(
      'INVALID_OPTION',
      `path must be an absolute path such as ${DEFAULT_PAGE_PATH}, and not the root; it is ${JSON.stringify(path)}`,
    )
  const compress = compressOnce()
  declareMount(audit, { kind: 'page', path: mount })
  let files: Promise<PageFiles> | undefined

  // The feed may be mounted after the page.
  const api = (): string =>
    options.api ?? mountsOf(audit).find(({ kind }) => kind === 'feed')?.path ?? DEFAULT_PATH

  const find = async (under: string): Promise<HttpResponse> => {
    files ??= readPage()
    const { document, assets } = await files
    if (under === '')
      return ok(placed(document, mount, api(), name), 'text/html; charset=utf-8', REVALIDATED)
    const asset: PageAsset | undefined = assets.get(under)
    if (!asset) throw new HttpProblem('NOT_FOUND', `there is nothing at ${mount}/${under}`)
    return ok(asset.text, asset.type, asset.isHashed ? KEPT : REVALIDATED)
  }

  const answer = async (request: HttpRequest): Promise<HttpResponse> => {
    try {
      if (!request.username)
        throw new HttpProblem('UNAUTHENTICATED', 'send user name and password', {
          headers: challenge(realm),
        })
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new HttpProblem('METHOD_NOT_ALLOWED', `${request.path} takes GET, HEAD`, {
          headers: { allow: 'GET, HEAD' },
        })
      const response = await find(request.path.slice(mount.length).replace(/^\//, ''))
      return await finish(request, response, compress)
    } catch (error) {
      return errorResponse(error)
    }
  }

  return (request) => (isUnder(request.path, mount) ? answer(request) : undefined)
}
