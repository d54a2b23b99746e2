import { FetchHttpRequest, respond } from '../../../src/http/fetch/exchange.js'
import type { AddressOption } from '../../../src/http/fetch/address.js'
import { thrownError } from '../../../src/http/thrown-error.js'
import { type MountHost, noUser, type Respond } from '../../../src/http/mounting/mounts.js'

/* The part of h3 2 that is used here, as structural types. */

export interface H3Event {
  readonly req: Request & { readonly ip?: string | undefined }
  readonly res: { readonly headers: Headers }
  readonly context: {
    username?: unknown
    readonly params?: Readonly<Record<string, string>>
    readonly matchedRoute?: { readonly route?: string }
  }
}

export type H3Middleware = (event: H3Event, next: () => unknown) => Promise<unknown>

export type H3Handler = (event: H3Event) => Promise<Response>

export const foundUser = ({ context }: H3Event): unknown => context.username

export type H3Address = AddressOption<[event: H3Event]>

export const addressOf = (options: H3Address, event: H3Event): string =>
  options.address?.(event) ?? event.req.ip ?? ''

/** h3 reads these members of the cause, too, if an error has none. */
const UNHANDLED = { status: 500, statusText: 'Internal Server Error', headers: {}, unhandled: true }

export function rethrow(thrown: unknown): never {
  const error: Error & { readonly status?: unknown } = thrownError(thrown)
  throw error.status ? error : Object.assign(error, UNHANDLED)
}

const toRequest = (event: H3Event, findUsername: () => string | null): FetchHttpRequest<H3Event> =>
  new FetchHttpRequest({ context: event, request: event.req, findUsername })

const toResponse = (
  { res: { headers } }: H3Event,
  ...answer: Parameters<typeof respond>
): Response => {
  const response = respond(answer[0], answer[1], headers)
  // h3 replaces the headers of a response by those that middleware has set.
  for (const name of headers.keys())
    if (response.headers.has(name)) headers.set(name, response.headers.get(name)!)
  return response
}

export const host: MountHost<H3Event, H3Middleware> = {
  mount: (endpoint, findUsername) => async (event, next) => {
    const request = toRequest(event, () => findUsername(event))
    const answer = endpoint(request)
    return answer ? toResponse(event, request, await answer.catch(rethrow)) : next()
  },
  username: foundUser,
  keyOf: ({ req }) => req,
}

export const listHandler =
  (respond: Respond<H3Event>): H3Handler =>
  async (event) => {
    const request = toRequest(event, noUser)
    return toResponse(event, request, await respond(request).catch(rethrow))
  }
