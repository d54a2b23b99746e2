import { entityTag } from '../finish.js'
import { checkAccept, VARIANTS } from '../media.js'
import { openApiDocument } from '../openapi/document.js'
import { refuseParameters } from '../parameters.js'
import type { EventsHandler, EventsSetting } from './handler.js'

const JSON_TYPE = 'application/json'

/** `GET <path>/openapi.json`: the description of the endpoints, made when it is first asked for. */
export function openApiHandler(setting: EventsSetting): EventsHandler {
  let made: { readonly body: string; readonly etag: string } | undefined
  const describe = (): NonNullable<typeof made> => {
    const body = JSON.stringify(openApiDocument(setting))
    return { body, etag: entityTag(body) }
  }
  return async ({ request }) => {
    checkAccept(request.header('accept'), JSON_TYPE)
    refuseParameters(request.query)
    const { body, etag } = (made ??= describe())
    return { status: 200, headers: { 'content-type': JSON_TYPE, ...VARIANTS, etag }, body }
  }
}
