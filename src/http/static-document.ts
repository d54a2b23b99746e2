import type { HttpRequest, HttpResponse } from './exchange.js'
import { entityTag } from './finalize-response.js'
import { CACHE_HEADERS, checkAccept } from './media.js'
import { refuseParameters } from './parameters.js'

/** Serves a document that never changes and is rendered at the first request. Takes no parameters. */
export function staticDocumentHandler(
  mediaType: string,
  make: () => string,
): (call: { readonly request: HttpRequest }) => Promise<HttpResponse> {
  let made: { readonly body: string; readonly etag: string } | undefined
  const render = (): NonNullable<typeof made> => {
    const body = make()
    return { body, etag: entityTag(body) }
  }
  return async ({ request }) => {
    checkAccept(request.header('accept'), mediaType)
    refuseParameters(request.query)
    const { body, etag } = (made ??= render())
    return { status: 200, headers: { 'content-type': mediaType, ...CACHE_HEADERS, etag }, body }
  }
}
