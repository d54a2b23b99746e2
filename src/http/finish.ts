import type { HttpRequest, HttpResponse } from './exchange.js'

/** The response as this client takes it: nothing where it has it already, compressed where it may be. */
export async function finish(_request: HttpRequest, response: HttpResponse): Promise<HttpResponse> {
  return response
}
