import { openApiDocument } from '../openapi/document.js'
import { parameters, requestBody, responses, schemas } from './components.js'
import { viewsRoutes } from './routes.js'

/** The OpenAPI document of the endpoints mounted at this path. */
export const viewsDocument = (path: string): string =>
  JSON.stringify(
    openApiDocument({
      path,
      title: 'Views',
      description: 'The named views of the audit log of the service',
      routes: viewsRoutes.map((route) => ({
        ...route,
        requestBody: route.body && requestBody(route.body),
      })),
      parameters,
      schemas,
      responses,
    }),
  )
