import { CommandError } from '../terminal/exit-codes.js'
import { resolveUrl } from './address.js'
import type { FeedClient } from './client.js'
import { failureOf, isJson, withoutQuery } from './failures.js'

/** The addresses of the endpoints of one service. */
export interface FeedPaths {
  readonly events: string
  readonly subscriptions: string
}

const DEFAULT_PATH = '/api/events'
const DEFAULT_SUBSCRIPTIONS = '/api/subscriptions'

/** The endpoints in the document of an audit page. */
function pathsInPage(html: string, at: string): FeedPaths | undefined {
  const [root = ''] = /<html[^>]*>/i.exec(html) ?? []
  const read = (name: string): string | undefined => {
    const [, value] = new RegExp(`\\sdata-${name}="([^"]*)"`).exec(root) ?? []
    const url = value ? resolveUrl(value.replaceAll('&amp;', '&'), at) : undefined
    return url?.origin === new URL(at).origin ? url.href.replace(/\/+$/, '') : undefined
  }
  const events = read('api')
  return events === undefined
    ? undefined
    : { events, subscriptions: read('subscriptions') ?? siblingOf(events) }
}

/** `/api/subscriptions` for `/api/events`. */
function siblingOf(events: string): string {
  return events.endsWith('/events')
    ? `${events.slice(0, -'/events'.length)}/subscriptions`
    : new URL(DEFAULT_SUBSCRIPTIONS, events).href
}

/**
 * Finds the endpoints from the address of a feed, of an audit page or of a host whose feed is at `/api/events`. Rejects with
 * `CommandError` and `AuditLogError`.
 */
export async function findFeed(
  client: FeedClient,
  url: string,
  signal: AbortSignal | undefined,
): Promise<FeedPaths> {
  const isFeed = async (events: string): Promise<boolean> => {
    const response = await client.send(`${events}/me`, { signal })
    if (response.ok && isJson(response)) {
      const { data } = (await response.json()) as { readonly data?: { readonly type?: string } }
      return data?.type === 'user'
    }
    if (response.status === 404 || response.ok) {
      await response.body?.cancel()
      return false
    }
    // Throws the error of the response, with a hint about credentials.
    if (response.status === 401) {
      await response.body?.cancel()
      await client.request(`${events}/me`, { signal })
    }
    throw await failureOf(response)
  }
  if (new URL(url).pathname !== '/' && (await isFeed(url)))
    return { events: url, subscriptions: siblingOf(url) }
  const page = await client.send(url, { headers: { accept: 'text/html, */*' }, signal })
  const fromPage = page.ok ? pathsInPage(await page.text(), url) : undefined
  if (!page.ok) await page.body?.cancel()
  const events = fromPage?.events ?? new URL(DEFAULT_PATH, url).href
  if (await isFeed(events)) return fromPage ?? { events, subscriptions: siblingOf(events) }
  throw new CommandError(
    'unreachable',
    `there is no audit feed at ${withoutQuery(url)}, and none at ${events}`,
  )
}
