import type { JsonLimits } from '../../event/json.js'
import { type ApiDescription, openApiDocument } from '../openapi/document.js'
import { responses } from '../openapi/responses.js'
import { componentSchemas } from '../openapi/schemas.js'
import { ref } from '../openapi/shapes.js'
import { JSON_API } from '../problem.js'
import type { EndpointAudit, EventsHandler, HandlerOptions } from './handler.js'
import { parameters } from './route-parameters.js'
import { type EventsRoute, EVENTS_ACTIONS, eventsRoutes } from './routes.js'
import { staticDocumentHandler } from '../static-document.js'

const OPERATION_IDS: Readonly<Record<EventsRoute['action'], string>> = {
  list: 'listEvents',
  create: 'createEvent',
  stream: 'followEvents',
  count: 'countEvents',
  groups: 'groupEvents',
  export: 'exportEvents',
  report: 'reportEvents',
  history: 'readHistory',
  types: 'listEventTypes',
  me: 'readUser',
  describe: 'describeEvents',
  read: 'readEvent',
}

const newEvent = ({ maxBytes, maxDepth }: JsonLimits) => ({
  required: true,
  description: `At most ${maxBytes} bytes and ${maxDepth} levels of nesting.`,
  content: {
    [JSON_API]: {
      schema: ref('NewEventDocument'),
      example: {
        data: {
          type: 'Event',
          attributes: { type: 'deploy:note', text: 'went well' },
        },
      },
    },
  },
})

interface DescribedApi extends Pick<HandlerOptions, 'path'> {
  readonly audit: Pick<EndpointAudit, 'limits' | 'links' | 'types'>
}

/**
 * The input of the OpenAPI document of the mounted endpoints. It is made from the table of routes, the registry of
 * event types, the predicates and the link attributes.
 */
export const describeApi = ({ path, audit }: DescribedApi): ApiDescription => ({
  path,
  title: 'Audit events',
  description: 'The audit events of the service',
  routes: eventsRoutes.map((route) => ({
    ...route,
    operationId: route.operationId ?? OPERATION_IDS[route.action],
    requestBody: route.action === 'create' ? newEvent(audit.limits) : undefined,
  })),
  parameters,
  schemas: componentSchemas(audit, EVENTS_ACTIONS),
  responses,
})

/** `GET <path>/openapi.json`: the OpenAPI document. */
export function openApiHandler(options: HandlerOptions): EventsHandler {
  return staticDocumentHandler('application/json', () =>
    JSON.stringify(openApiDocument(describeApi(options))),
  )
}
