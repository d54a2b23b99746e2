import { eventBodies } from '../openapi/bodies.js'
import { type ApiDescription, openApiDocument } from '../openapi/document.js'
import { parameters } from '../openapi/parameters.js'
import { responses } from '../openapi/responses.js'
import { EVENTS_ACTIONS } from '../openapi/route.js'
import { eventsRoutes } from '../openapi/routes.js'
import { componentSchemas } from '../openapi/schemas.js'
import { staticDocumentHandler } from '../static-document.js'
import type { EndpointAudit, EventsHandler, HandlerOptions } from './handler.js'

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
  routes: eventsRoutes,
  parameters,
  schemas: componentSchemas(audit, EVENTS_ACTIONS),
  responses,
  bodies: eventBodies(audit.limits),
})

/** `GET <path>/openapi.json`: the OpenAPI document. */
export function openApiHandler(options: HandlerOptions): EventsHandler {
  return staticDocumentHandler('application/json', () =>
    JSON.stringify(openApiDocument(describeApi(options))),
  )
}
