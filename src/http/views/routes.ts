import type { BodyName, ParameterName, ResponseName } from './components.js'
import type { HandledAction } from './handlers.js'

/** An endpoint and its description. */
export interface ViewsRoute {
  /** `me` is allowed for every authenticated user. */
  readonly action: HandledAction | 'me'
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Relative to the mount path. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly ParameterName[]
  readonly body?: BodyName
  readonly responses: Readonly<Record<number, ResponseName>>
  /** Error statuses in addition to those that every endpoint has. */
  readonly problems: readonly number[]
}

const READ = { 304: 'NotModified' } as const

/** All endpoints. */
export const viewsRoutes: readonly ViewsRoute[] = [
  {
    action: 'views:list',
    method: 'GET',
    path: '',
    operationId: 'listViews',
    summary: 'List views',
    description:
      'The views of the user and the shared ones, by name. Status 206 means that more match than the limit allows.',
    parameters: ['filter', 'limit', 'If-None-Match'],
    responses: { 200: 'ViewList', 206: 'PartOfViewList', ...READ },
    problems: [400, 406],
  },
  {
    action: 'views:create',
    method: 'POST',
    path: '',
    operationId: 'createView',
    summary: 'Create a view',
    description: 'Its owner is the authenticated user. To share it needs the right `views:share`.',
    parameters: [],
    body: 'NewView',
    responses: { 201: 'ViewCreated' },
    problems: [400, 406, 409, 413, 415, 422],
  },
  {
    action: 'me',
    method: 'GET',
    path: '/me',
    operationId: 'readViewRights',
    summary: 'Read what the user may do',
    description: 'The name and the rights of the authenticated user.',
    parameters: ['If-None-Match'],
    responses: { 200: 'User', ...READ },
    problems: [400, 406],
  },
  {
    action: 'views:describe',
    method: 'GET',
    path: '/openapi.json',
    operationId: 'describeViews',
    summary: 'Describe the endpoints',
    description: 'This document.',
    parameters: ['If-None-Match'],
    responses: { 200: 'Description', ...READ },
    problems: [400, 406],
  },
  {
    action: 'views:read',
    method: 'GET',
    path: '/{id}',
    operationId: 'readView',
    summary: 'Read one view',
    description: 'The response is 404 for a missing view and for one that the user may not see.',
    parameters: ['id', 'If-None-Match'],
    responses: { 200: 'View', ...READ },
    problems: [400, 404, 406],
  },
  {
    action: 'views:update',
    method: 'PATCH',
    path: '/{id}',
    operationId: 'updateView',
    summary: 'Change a view',
    description:
      'Attributes that are not sent keep their value. To share a view, or to change one that is shared, needs the right `views:share`.',
    parameters: ['id'],
    body: 'ViewChange',
    responses: { 200: 'ChangedView' },
    problems: [400, 404, 406, 409, 413, 415, 422],
  },
  {
    action: 'views:destroy',
    method: 'DELETE',
    path: '/{id}',
    operationId: 'destroyView',
    summary: 'Delete a view',
    description: 'It is deleted for everybody who sees it.',
    parameters: ['id'],
    responses: { 204: 'Removed' },
    problems: [400, 404],
  },
]
