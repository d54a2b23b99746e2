import type { HttpResponse } from '../../src/http/exchange.js'
import { FetchHttpRequest, respond } from '../../src/http/fetch/exchange.js'
import { type MountHost, noUser, type Respond } from '../../src/http/mounting/mounts.js'
import { thrownErrorOfRealm } from '../../src/http/thrown-error.js'
import { foundUser, type HonoContext, type HonoHandler, type HonoMiddleware } from './hono.js'

export const toRequest = (
  context: HonoContext,
  findUsername: () => string | null,
): FetchHttpRequest<HonoContext> => {
  const { req } = context
  return new FetchHttpRequest({
    context,
    request: req.raw,
    findUsername,
    readAgain: () => readAgain(req),
  })
}

/** The bytes of a body that middleware has read. Hono would write a form that only `formData()` has read as another media type. */
async function readAgain(req: HonoContext['req']): Promise<Uint8Array> {
  const { arrayBuffer, text, formData } = req.bodyCache
  if (!formData || arrayBuffer || text) return new Uint8Array(await req.arrayBuffer())
  const fields = [...(await req.formData())] as [name: string, value: string][]
  return Buffer.from(String(new URLSearchParams(fields)))
}

/** Hono passes only errors of its own realm to `onError`. */
export const rethrowInRealm = (thrown: unknown): never => {
  throw thrownErrorOfRealm(thrown)
}

/** Merges `vary` with what middleware has set; Hono itself merges the other headers. */
export function toResponse(
  context: HonoContext,
  request: FetchHttpRequest<HonoContext>,
  answer: HttpResponse,
): Response {
  const { headers } = context.res
  const response = respond(request, answer, headers)
  const vary = response.headers.get('vary')
  if (vary !== null && headers.has('vary')) headers.set('vary', vary)
  return response
}

export const host: MountHost<HonoContext, HonoMiddleware> = {
  mount: (endpoint, findUsername) =>
    async function mountedEndpoint(context, next) {
      const request = toRequest(context, () => findUsername(context))
      const response = endpoint(request)
      if (!response) return next()
      return toResponse(context, request, await response.catch(rethrowInRealm))
    },
  username: foundUser,
}

/** Hono takes a function with one parameter as the handler of a route. */
export const listHandler = (respond: Respond<HonoContext>): HonoHandler =>
  async function listRoute(context) {
    const request = toRequest(context, noUser)
    return toResponse(context, request, await respond(request).catch(rethrowInRealm))
  }
