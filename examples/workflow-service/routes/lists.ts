import type { RouterContext } from '@koa/router'
import type { ItemAttributeTypes } from 'daybook'
import { listRoute } from 'daybook/koa'
import type { Kinds } from '../model.js'
import { resourceOf } from '../resources.js'
import type { Handler } from './request.js'

const ACTIVITY = {
  name: 'string',
  action: 'string',
  status: 'string',
  project_path: 'string',
  node_path: 'string',
  template_version_id: 'string',
  settings: 'object',
  step_ids: 'string',
  started_by: 'string',
  created_at: 'timestamp',
  finished_at: 'timestamp',
} as const

const VERSION = { version: 'number', created_at: 'timestamp', values: 'object' } as const

/** The kinds that have lists, with the attributes that filters and sorts can use. */
const LISTS = {
  projects: { code: 'string', name: 'string', description: 'string', archived: 'boolean' },
  nodes: {
    node_type: 'string',
    code: 'string',
    name: 'string',
    description: 'string',
    node_path: 'string',
    template_version_id: 'string',
    actions: 'string',
    model: 'string',
    image_id: 'string',
  },
  bookmarks: { name: 'string', path: 'string' },
  changes: ACTIVITY,
  workflow_runs: { ...ACTIVITY, workflow_id: 'string' },
  workflows: { name: 'string', description: 'string', steps: 'object' },
  scheduled_changes: {
    name: 'string',
    every_seconds: 'number',
    next_run_at: 'timestamp',
    last_id: 'string',
    change: 'object',
    git_remote_id: 'string',
    revision: 'string',
    commit_file_patterns: 'string',
  },
  scheduled_workflows: {
    name: 'string',
    every_seconds: 'number',
    next_run_at: 'timestamp',
    last_id: 'string',
    workflow_id: 'string',
  },
  git_remotes: { name: 'string', url: 'string' },
  templates: { name: 'string', description: 'string' },
  template_versions: {
    template_id: 'string',
    git_remote_id: 'string',
    revision: 'string',
    status: 'string',
    commit_sha: 'string',
    actions: 'string',
    requires: 'string',
    reads_model: 'boolean',
    follows: 'boolean',
    float_error: 'string',
  },
  images: {
    name: 'string',
    context: 'string',
    instructions: 'string',
    key: 'string',
    created_at: 'timestamp',
  },
  sites: { name: 'string', role: 'string', cordoned_by: 'string', cordon_reason: 'string' },
  authorisation_policies: { name: 'string', description: 'string' },
  authorisation_rules: { name: 'string', method: 'string', path: 'string' },
  policy_rules: { policy_id: 'string', rule_id: 'string' },
  policy_assignments: { policy_id: 'string', assignee_type: 'string', assignee: 'string' },
  settings_versions: VERSION,
  properties_versions: VERSION,
} as const satisfies { readonly [K in keyof Kinds]?: ItemAttributeTypes<Kinds[K]> }

export type ListedKind = keyof typeof LISTS

const attributes: { readonly [K in ListedKind]: ItemAttributeTypes<Kinds[K]> } = LISTS

/** A handler that lists documents of a kind, with filters, sorts and pages. */
export function listOf<K extends ListedKind>(
  kind: K,
  documentsOf: (ctx: RouterContext) => readonly Kinds[K][],
): Handler {
  const list = listRoute<Kinds[K]>({
    attributes: attributes[kind],
    source: (ctx) => documentsOf(ctx as RouterContext),
    resource: (document) => resourceOf(kind, document),
    // This list takes no filters, as the API is specified.
    filtering: kind !== 'properties_versions',
  })
  return async (ctx) => {
    await list(ctx, () => Promise.resolve())
  }
}
