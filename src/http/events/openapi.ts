import { type ApiDescription, openApiDocument } from '../openapi/document.js'
import type { EventsHandler, HandlerOptions } from './handler.js'
import { parameters } from './route-parameters.js'
import { type EventsRoute, EVENTS_ACTIONS, eventsRoutes } from './routes.js'
import { staticDocumentHandler } from './static-document.js'

const OPERATION_IDS: Readonly<Record<EventsRoute['action'], string>> = {
  list: 'listEvents',
  create: 'createEvent',
  stream: 'followEvents',
  count: 'countEvents',
  export: 'exportEvents',
  types: 'listEventTypes',
  me: 'readUser',
  describe: 'describeEvents',
  read: 'readEvent',
}

/** The input of the OpenAPI document of the mounted endpoints. */
export const describeApi = ({
  path,
  audit,
}: Pick<HandlerOptions, 'path' | 'audit'>): ApiDescription => ({
  path,
  routes: eventsRoutes.map((route) => ({ ...route, operationId: OPERATION_IDS[route.action] })),
  parameters,
  actions: EVENTS_ACTIONS,
  types: audit.types,
  limits: audit.limits,
})

/** `GET <path>/openapi.json`: the OpenAPI document. */
export function openApiHandler(options: HandlerOptions): EventsHandler {
  return staticDocumentHandler('application/json', () =>
    JSON.stringify(openApiDocument(describeApi(options))),
  )
}
