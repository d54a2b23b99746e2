import { managedBodies } from '../openapi/bodies.js'
import { openApiDocument } from '../openapi/document.js'
import { subscriptionsParameters } from '../openapi/parameters.js'
import { subscriptionsResponses } from '../openapi/responses.js'
import { managementRoutes } from '../openapi/routes.js'
import { subscriptionsSchemas } from '../openapi/schemas.js'
import { SUBSCRIPTIONS_ACTIONS } from './actions.js'

/** The OpenAPI document of the endpoints mounted at this path. */
export const managementDocument = (path: string): string =>
  JSON.stringify(
    openApiDocument({
      path,
      title: 'Subscriptions',
      description: 'The subscriptions and notification channels of the audit log of the service',
      routes: managementRoutes,
      parameters: subscriptionsParameters,
      schemas: subscriptionsSchemas(SUBSCRIPTIONS_ACTIONS),
      responses: subscriptionsResponses,
      bodies: managedBodies,
    }),
  )
