import { AuditLogError, type Link, type ResolveSource } from 'daybook'
import type { Documents } from './documents/documents.js'
import type { Kind } from './model.js'
import { pathExists, projectPath } from './paths.js'

function targetExists(documents: Documents, { attribute, value, path }: Link): boolean {
  if (attribute === 'project_path' || attribute === 'node_path') return pathExists(documents, value)
  const [kind, id] = path.split('/').slice(-2) as [Kind, string]
  return documents.get(kind, id) !== undefined
}

/** Projects and nodes have URLs with their paths, not with their ids. */
function pathById(documents: Documents, { attribute, value }: Link): string | undefined {
  const id = value.toLowerCase()
  if (attribute === 'node_id') return documents.get('nodes', id)?.node_path
  const project = attribute === 'project_id' ? documents.get('projects', id) : undefined
  return project && projectPath(project.code)
}

/** Links in users' events must have an existing target. The service may link to what it just removed. */
export const createResolver =
  (documents: Documents): ResolveSource =>
  (link, { system }) => {
    if (!system && !targetExists(documents, link))
      throw new AuditLogError('INVALID_LINK', `${link.attribute}: ${link.value} does not exist`, {
        pointer: `/${link.attribute}`,
      })
    const path = pathById(documents, link)
    return path === undefined ? link.path : `/api${path}`
  }
