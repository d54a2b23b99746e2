import { openApiDocument } from '../openapi/document.js'
import type { EventsHandler, EventsSetting } from './handler.js'
import { unchanging } from './unchanging.js'

/** `GET <path>/openapi.json`: the description of the endpoints. */
export function openApiHandler(setting: EventsSetting): EventsHandler {
  return unchanging('application/json', () => JSON.stringify(openApiDocument(setting)))
}
