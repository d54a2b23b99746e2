import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuditLog } from 'daybook'
import { type AccessAnswer, createAccess, PAGE_PATH } from './access.js'

export interface SiteOptions {
  /** 0 for any free port. */
  readonly port: number
  /** Shown at the top of the page. */
  readonly name: string
  /** The user of the page. */
  readonly username: string
  /** Names of attributes that the site does not show. @default none */
  readonly conceal?: readonly string[] | undefined
}

export interface Site {
  /** The address that opens the page. It works once. */
  readonly url: string
  /** Answers from this log from now on. */
  show(audit: AuditLog): void
  close(): Promise<void>
}

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  // The address may contain the token.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * The response for a link on another site. The browser sends no cookie for that link, but it sends the cookie for the
 * link in this document.
 */
const documentOf = (text: string): string =>
  `<!doctype html><html lang="en"><title>daybook serve</title><p>${text}</p><p>Did you open it just now? <a href="${PAGE_PATH}">Go to the log</a></p></html>\n`

function send(
  response: http.ServerResponse,
  { status, headers, text, hasLink = false }: AccessAnswer,
): void {
  const type = hasLink ? 'text/html' : 'text/plain'
  response.writeHead(status, {
    ...HEADERS,
    'content-type': `${type}; charset=utf-8`,
    ...headers,
  })
  response.end(hasLink ? documentOf(text) : `${text}\n`)
}

/** Serves the page and the feed of the log on 127.0.0.1, for reading. Rejects if the port is taken. */
export async function openSite(
  audit: AuditLog,
  { port, name, username, conceal = [] }: SiteOptions,
): Promise<Site> {
  const { auditPage, auditRoutes } = await import('daybook/node')
  // Throws for names that cannot be concealed.
  audit.restricted({ conceal })
  const listener = (audit: AuditLog): http.RequestListener => {
    // Without routes for subscriptions and views, the page does not offer them.
    const feed = auditRoutes(audit, {
      username: () => username,
      authorize: (_request, action) => action !== 'create',
      conceal: () => conceal,
    })
    const page = auditPage(audit, { path: PAGE_PATH, name, username: () => username })
    return (request, response) => feed(request, response, () => page(request, response))
  }
  let handle = listener(audit)
  const server = http.createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  const access = createAccess(bound)
  server.on('request', (request, response) => {
    const answer = access.answer(request)
    if (answer) return send(response, answer)
    handle(request, response)
  })
  return {
    url: `http://127.0.0.1:${bound}${access.loginPath}`,
    show(audit) {
      handle = listener(audit)
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
