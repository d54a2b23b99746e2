import type { Documents } from './documents/documents.js'
import type { Node, Project } from './model.js'

/* Paths of projects and nodes, such as `/projects/acme/environments/prod/assets/web`. */

export const projectPath = (code: string): string => `/projects/${code}`

/** The path of the project of a node. */
export const projectPathOf = (path: string): string => path.split('/').slice(0, 3).join('/')

/** The last project or node of a path, as events have it. */
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
