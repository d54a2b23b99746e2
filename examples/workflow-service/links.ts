import { AuditLogError, type Link, type LinkAttribute, type ResolveSource } from 'daybook'
import type { Documents } from './documents/documents.js'
import type { Kind } from './model.js'
import { pathExists, projectPath } from './paths.js'

type IdAttribute = Exclude<LinkAttribute, 'project_path' | 'node_path'>

const KINDS: Readonly<Record<IdAttribute, Kind>> = {
  step_id: 'steps',
  workflow_step_id: 'workflow_steps',
  change_id: 'changes',
  workflow_run_id: 'workflow_runs',
  scheduled_change_id: 'scheduled_changes',
  properties_version_id: 'properties_versions',
  settings_version_id: 'settings_versions',
  template_version_id: 'template_versions',
  properties_id: 'properties',
  settings_id: 'settings',
  template_id: 'templates',
  bookmark_id: 'bookmarks',
  git_remote_id: 'git_remotes',
  node_id: 'nodes',
  project_id: 'projects',
}

function targetExists(documents: Documents, { attribute, value }: Link): boolean {
  if (attribute === 'project_path' || attribute === 'node_path') return pathExists(documents, value)
  return documents.get(KINDS[attribute], value.toLowerCase()) !== undefined
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
