import type { Endpoint } from '../../src/http/exchange.js'
import { FetchHttpRequest, respond } from '../../src/http/fetch/exchange.js'
import { answerOwn } from '../../src/http/record/own-request.js'
import type { FetchMount, FetchRequest } from './fetch.js'

/** A handler that serves an endpoint, and returns undefined for other requests. Requests to the endpoint are not recorded. */
export function mountEndpoint(
  endpoint: Endpoint<FetchRequest>,
  findUsername: (request: FetchRequest) => string | null,
): FetchMount {
  return async function mountedEndpoint(request) {
    const received = new FetchHttpRequest<FetchRequest>({
      context: request,
      request,
      findUsername: () => findUsername(request),
    })
    const response = endpoint(received)
    if (!response) return undefined
    return respond(received, await answerOwn(request, response))
  }
}
