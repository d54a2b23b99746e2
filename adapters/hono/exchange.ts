import type { HttpResponse } from '../../src/http/exchange.js'
import { FetchHttpRequest, respond } from '../../src/http/fetch/exchange.js'
import type { HonoContext } from './hono.js'

export const toRequest = (
  context: HonoContext,
  findUsername: () => string | null,
): FetchHttpRequest<HonoContext> => {
  const { req } = context
  return new FetchHttpRequest({
    context,
    request: req.raw,
    findUsername,
    readAgain: async () => new Uint8Array(await req.arrayBuffer()),
  })
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
