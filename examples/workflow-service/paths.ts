import type { Documents } from './documents/documents.js'
import type { Node, Project } from './model.js'

/* The paths that name projects and nodes: `/projects/acme/environments/prod/assets/web`. */

export const projectPath = (code: string): string => `/projects/${code}`

/** The project's part of a node's path. */
export const projectPathOf = (path: string): string => path.split('/').slice(0, 3).join('/')

/** The project or node that a path ends with, as events name it. */
export function endOf(path: string): { code: string; node_type: string } {
  const [plural = '', code = ''] = path.split('/').slice(-2)
  return { code, node_type: plural.replace(/s$/, '') }
}

export const parentPathOf = (path: string): string => path.split('/').slice(0, -2).join('/')

export const findProject = (documents: Documents, path: string): Project | undefined =>
  documents.all('projects').find(({ code }) => projectPath(code) === path)

export const findNode = (documents: Documents, path: string): Node | undefined =>
  documents.all('nodes').find(({ node_path }) => node_path === path)

export const pathExists = (documents: Documents, path: string): boolean =>
  (findProject(documents, path) ?? findNode(documents, path)) !== undefined
