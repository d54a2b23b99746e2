import type { ActivityStatus, StepStatus } from './engine/transitions.js'
import type { StepDefinition } from './engine/definitions.js'
import type {
  AuthorisationPolicy,
  AuthorisationRule,
  Image,
  JobRun,
  LdapGroup,
  LdapUser,
  NodeTask,
  PolicyAssignment,
  PolicyRule,
  Secret,
  Site,
  StepLog,
  VaultKey,
} from './model-administration.js'

/* The documents of the service. Field names are those of its JSON:API attributes. */

export interface Project {
  readonly id: string
  readonly code: string
  readonly name: string
  readonly description: string
  readonly archived: boolean
}

export type NodeType = 'environment' | 'asset' | 'agent'

/** An environment of a project, or an asset or agent of an environment. */
export interface Node {
  readonly id: string
  readonly node_type: NodeType
  readonly code: string
  readonly name: string
  readonly description: string
  /** `/projects/<code>/environments/<code>[/assets/<code> or /agents/<code>]`: codes never change. */
  readonly node_path: string
  /** Of an asset. */
  readonly template_version_id?: string
  readonly actions?: readonly string[]
  readonly model?: string
  /** Of an agent. */
  readonly image_id?: string
}

export interface Bookmark {
  readonly id: string
  readonly name: string
  readonly path: string
}

/** Work that belongs to a process. */
export interface Owned {
  /** The `processId`; null before the work starts. */
  readonly owner: string | null
}

/** A change or a workflow run: steps that run one after the other. */
export interface Activity extends Owned {
  readonly id: string
  readonly name: string
  readonly action: string | null
  readonly status: ActivityStatus
  readonly project_path: string | null
  readonly node_path: string | null
  readonly workflow_id: string | null
  /** The template version of its action. */
  readonly template_version_id?: string | null
  /** Overrides of settings. */
  readonly settings?: Readonly<Record<string, Scalar>>
  readonly step_ids: readonly string[]
  /** Null if a schedule started it. */
  readonly started_by: string | null
  readonly created_at: string
  readonly finished_at: string | null
}

export interface Step {
  readonly id: string
  readonly activity_id: string
  readonly definition: StepDefinition
  readonly status: StepStatus
  readonly result: string | null
  readonly error: string | null
}

export interface Workflow {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly steps: readonly StepDefinition[]
}

/** The attributes of a new change. */
export interface ChangePlan {
  readonly name: string
  readonly action: string | null
  readonly project_path: string | null
  readonly node_path: string | null
  readonly template_version_id?: string | null
  readonly settings?: Readonly<Record<string, Scalar>> | null
  readonly steps: readonly StepDefinition[]
}

interface Scheduled {
  readonly id: string
  readonly name: string
  readonly every_seconds: number | null
  /** Null when no run is left. */
  readonly next_run_at: string | null
  /** The change or run that it created last. */
  readonly last_id: string | null
}

export interface ScheduledChange extends Scheduled {
  readonly change: ChangePlan
  /** The change is created only if the revision exists, and its commit touches one of the files. */
  readonly git_remote_id: string | null
  readonly revision: string | null
  readonly commit_file_patterns: readonly string[]
}

export interface ScheduledWorkflow extends Scheduled {
  readonly workflow_id: string
}

export interface GitRemote {
  readonly id: string
  readonly name: string
  readonly url: string
}

export interface Template {
  readonly id: string
  readonly name: string
  readonly description: string
}

export interface TemplateVersion extends Owned {
  readonly id: string
  readonly template_id: string
  readonly git_remote_id: string
  readonly revision: string
  readonly status: 'fetching' | 'success' | 'error' | 'broken'
  readonly commit_sha: string | null
  /** Declarations in its file `actions.rb`. */
  readonly actions: readonly string[]
  readonly requires: readonly string[]
  readonly reads_model: boolean
  /** True if it is refreshed when its revision moves to another commit. */
  readonly follows: boolean
  /** Why it could not be refreshed then. */
  readonly float_error: string | null
  /** The running refresh. */
  readonly refresh_id: string | null
}

export type Scalar = string | number | boolean | null

/** Settings or properties. */
export interface Values {
  readonly id: string
  readonly values: Readonly<Record<string, Scalar>>
}

export interface ValuesVersion extends Values {
  readonly version: number
  readonly created_at: string
}

export interface Job {
  readonly id: string
  readonly next_run_at: string
}

/** A directory of a process. The process removes it at the end, or another one does if it was killed. */
export interface Workspace extends Owned {
  readonly id: string
  /** The machine of the directory. */
  readonly host: string
}

export type * from './model-administration.js'

export interface Kinds {
  projects: Project
  nodes: Node
  bookmarks: Bookmark
  changes: Activity
  steps: Step
  workflows: Workflow
  workflow_runs: Activity
  workflow_steps: Step
  scheduled_changes: ScheduledChange
  scheduled_workflows: ScheduledWorkflow
  git_remotes: GitRemote
  templates: Template
  template_versions: TemplateVersion
  settings: Values
  settings_versions: ValuesVersion
  properties: Values
  properties_versions: ValuesVersion
  secrets: Secret
  vault_keys: VaultKey
  sites: Site
  authorisation_policies: AuthorisationPolicy
  authorisation_rules: AuthorisationRule
  policy_rules: PolicyRule
  policy_assignments: PolicyAssignment
  ldap_users: LdapUser
  ldap_groups: LdapGroup
  step_logs: StepLog
  images: Image
  node_tasks: NodeTask
  job_runs: JobRun
  jobs: Job
  workspaces: Workspace
}

export type Kind = keyof Kinds
