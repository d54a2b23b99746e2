import { CHANGES, WORKFLOW_RUNS, type ActivityNames } from './engine/names.js'
import type { Activity, Kind, Kinds, Step, Values } from './model.js'
import { projectPath } from './paths.js'

/** How documents of a kind are sent to clients. */
interface View<T> {
  readonly type: string
  readonly path: (document: T) => string
  readonly attributes?: (fields: Omit<T, 'id'>) => object
  /** Paths of related resources, by relationship. */
  readonly related?: (document: T) => Readonly<Record<string, string>>
}

type Id = { readonly id: string }

const byId = (plural: string) => (document: Id) => `/api/${plural}/${document.id}`

const activityView = (names: ActivityNames): View<Activity> => ({
  type: names.activity,
  path: byId(names.activities),
  attributes: ({ workflow_id, owner: _owner, ...attributes }) =>
    names === WORKFLOW_RUNS ? { ...attributes, workflow_id } : attributes,
})

const stepView = (names: ActivityNames): View<Step> => ({
  type: names.steps.replace(/s$/, ''),
  path: byId(names.steps),
  attributes: ({ activity_id, definition, status, result, error }) => ({
    ...definition,
    status,
    result,
    error,
    [names.activityLink]: activity_id,
  }),
})

const valuesView = (name: string): View<Values> => ({
  type: name,
  path: () => `/api/${name}`,
  attributes: ({ values }) => values,
})

/** Kinds that are not sent to clients. */
type Internal =
  | 'jobs'
  | 'job_runs'
  | 'workspaces'
  | 'vault_keys'
  | 'ldap_users'
  | 'ldap_groups'
  | 'step_logs'
  | 'node_tasks'

const VIEWS: { readonly [K in Exclude<Kind, Internal>]: View<Kinds[K]> } = {
  projects: {
    type: 'project',
    path: ({ code }) => `/api${projectPath(code)}`,
    related: ({ code }) => ({
      environments: `/api${projectPath(code)}/environments`,
      events: `/api/events?filter[url_params_project_code_eq]=${encodeURIComponent(code)}`,
    }),
  },
  nodes: {
    type: 'node',
    path: ({ node_path }) => `/api${node_path}`,
  },
  bookmarks: { type: 'bookmark', path: byId('bookmarks') },
  changes: activityView(CHANGES),
  steps: stepView(CHANGES),
  workflows: { type: 'workflow', path: byId('workflows') },
  workflow_runs: activityView(WORKFLOW_RUNS),
  workflow_steps: stepView(WORKFLOW_RUNS),
  scheduled_workflows: { type: 'scheduled_workflow', path: byId('scheduled_workflows') },
  scheduled_changes: { type: 'scheduled_change', path: byId('scheduled_changes') },
  git_remotes: { type: 'git_remote', path: byId('git_remotes') },
  templates: { type: 'template', path: byId('templates') },
  template_versions: {
    type: 'template_version',
    path: byId('template_versions'),
    attributes: ({ owner: _owner, refresh_id: _refresh, ...attributes }) => attributes,
  },
  settings: valuesView('settings'),
  settings_versions: { type: 'settings_version', path: byId('settings_versions') },
  properties: valuesView('properties'),
  secrets: {
    type: 'secret',
    path: byId('secrets'),
    attributes: ({ name }) => ({ name }),
  },
  images: { type: 'image', path: byId('images') },
  sites: { type: 'site', path: byId('sites') },
  authorisation_policies: { type: 'authorisation_policy', path: byId('authorisation_policies') },
  authorisation_rules: { type: 'authorisation_rule', path: byId('authorisation_rules') },
  policy_rules: { type: 'policy_rule', path: byId('policy_rules') },
  policy_assignments: { type: 'policy_assignment', path: byId('policy_assignments') },
  properties_versions: { type: 'properties_version', path: byId('properties_versions') },
}

export type ResourceKind = keyof typeof VIEWS

export interface Resource {
  readonly type: string
  readonly id: string
  readonly attributes: object
  readonly relationships?: Readonly<
    Record<string, { readonly links: { readonly related: string } }>
  >
  readonly links: { readonly self: string }
}

export function resourceOf<K extends ResourceKind>(kind: K, document: Kinds[K]): Resource {
  const view: View<Kinds[K]> = VIEWS[kind]
  const { id, ...attributes } = document
  const related = view.related && Object.entries(view.related(document))
  return {
    type: 'node_type' in document ? document.node_type : view.type,
    id,
    attributes: view.attributes?.(attributes) ?? attributes,
    ...(related && {
      relationships: Object.fromEntries(
        related.map(([name, path]) => [name, { links: { related: path } }]),
      ),
    }),
    links: { self: view.path(document) },
  }
}
