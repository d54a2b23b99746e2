import { type ApiDescription, openApiDocument } from '../openapi/document.js'
import { parameters, requestBody, responses } from './components.js'
import { managementRoutes, type SubscriptionsRoute } from './routes.js'
import { schemas } from './schemas.js'

/** Such as `rotateNotificationChannelSecret` would read best; the action as one word is unique and predictable. */
const operationId = ({ action }: SubscriptionsRoute): string =>
  action.replaceAll(/[:_](\w)/g, (_, letter: string) => letter.toUpperCase())

/** The input of the OpenAPI document of the endpoints mounted at this path. */
export const describeManagement = (path: string): ApiDescription => ({
  path,
  title: 'Subscriptions',
  description: 'The subscriptions and notification channels of the audit log of the service',
  routes: managementRoutes.map((route) => ({
    ...route,
    operationId: operationId(route),
    requestBody: route.body && requestBody(route.body),
  })),
  parameters,
  schemas,
  responses,
})

export const managementDocument = (path: string): string =>
  JSON.stringify(openApiDocument(describeManagement(path)))
