import type { Handler } from './request.js'

/**
 * One endpoint. Unless `name` is set, its event is named after its path: `POST /api/projects` records
 * `projects:create`.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly handler: Handler
  readonly name?: string
  /** The handler checks permissions itself. */
  readonly checksPermission?: true
}

export const get = (path: string, handler: Handler): Route => ({ method: 'GET', path, handler })

const writing =
  (method: Route['method']) =>
  (path: string, handler: Handler, name?: string): Route =>
    name === undefined ? { method, path, handler } : { method, path, handler, name }

export const post = writing('POST')
export const patch = writing('PATCH')
export const del = writing('DELETE')
