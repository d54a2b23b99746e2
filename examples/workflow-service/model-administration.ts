/* The documents behind administration: secrets, sites, authorisation, the directory, images, agents. */

export interface Secret {
  readonly id: string
  readonly name: string
  /** Encrypted, in base64. */
  readonly sealed: string
}

export interface VaultKey {
  readonly id: string
  /** In base64. */
  readonly key: string
}

export interface Site {
  readonly id: string
  readonly name: string
  /** The role of its database cluster. */
  readonly role: string
  /** The user; null if the site takes new work. */
  readonly cordoned_by: string | null
  readonly cordon_reason: string | null
}

export interface AuthorisationPolicy {
  readonly id: string
  readonly name: string
  readonly description: string
}

/** Allows requests with the method to the path and all below it. */
export interface AuthorisationRule {
  readonly id: string
  readonly name: string
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
}

export interface PolicyRule {
  readonly id: string
  readonly policy_id: string
  readonly rule_id: string
}

export interface PolicyAssignment {
  readonly id: string
  readonly policy_id: string
  readonly assignee_type: 'user' | 'group'
  readonly assignee: string
}

/** An entry of the LDAP directory, as it was at the last refresh. */
export interface LdapUser {
  readonly id: string
  readonly dn: string
}

export interface LdapGroup extends LdapUser {
  readonly members: readonly string[]
}

/** The log of a step that could not be sent to the aggregator. */
export interface StepLog {
  readonly id: string
  readonly step_id: string
  readonly text: string
}

/** The recipe of an image. */
export interface Image {
  readonly id: string
  readonly name: string
  /** A directory of this machine that the image contains. */
  readonly context: string | null
  readonly instructions: readonly string[]
  /** The content key of the image that was built last. */
  readonly key: string | null
  readonly created_at: string
}

/** The task of starting or stopping an agent. */
export interface NodeTask {
  readonly id: string
  readonly node_id: string
  readonly action: 'start' | 'stop'
  readonly created_at: string
}

export interface JobRun {
  readonly id: string
  readonly name: string
  readonly finished_at: string
}
