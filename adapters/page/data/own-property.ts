/** The value of an own property; `undefined` for inherited names such as `constructor`. */
export const ownValue = <Value>(
  members: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined => (members && Object.hasOwn(members, name) ? members[name] : undefined)
