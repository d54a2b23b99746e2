import { managedBodies } from '../openapi/bodies.js'
import { openApiDocument } from '../openapi/document.js'
import { viewsParameters } from '../openapi/parameters.js'
import { viewsResponses } from '../openapi/responses.js'
import { viewsRoutes } from '../openapi/routes.js'
import { viewsSchemas } from '../openapi/schemas.js'
import { VIEWS_ACTIONS } from './actions.js'

/** The OpenAPI document of the endpoints mounted at this path. */
export const viewsDocument = (path: string): string =>
  JSON.stringify(
    openApiDocument({
      path,
      title: 'Views',
      description: 'The named views of the audit log of the service',
      routes: viewsRoutes,
      parameters: viewsParameters,
      schemas: viewsSchemas(VIEWS_ACTIONS),
      responses: viewsResponses,
      bodies: managedBodies,
    }),
  )
