/** The member of this name; what every object has from birth, such as `constructor`, is none. */
export const own = <Value>(
  members: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined => (members && Object.hasOwn(members, name) ? members[name] : undefined)
