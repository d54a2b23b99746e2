/** A mounted endpoint that serves a log, to which the page links. */
export interface Mount {
  readonly kind: 'feed' | 'subscriptions' | 'notification_channels' | 'views' | 'logs'
  /** The path that clients send. */
  readonly path: string
}

/** True if a path is the mount path or under it. */
export function isUnder(path: string, mount: string): boolean {
  return path === mount || path.startsWith(`${mount}/`)
}

const mounts = new WeakMap<object, readonly Mount[]>()

export function declareMount(audit: object, mount: Mount): void {
  mounts.set(audit, [...mountsOf(audit), mount])
}

export function mountsOf(audit: object): readonly Mount[] {
  return mounts.get(audit) ?? []
}
