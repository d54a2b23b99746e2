import { type Group, groupOf, isGroup, type Member, type Row } from './model.js'

/*
 * Edits of the tree of rows and groups. Each returns a new tree.
 */

/** Changes the members of the group that contains the member `id`. */
function changeMembers(
  root: Group,
  id: number,
  change: (members: readonly Member[], at: number) => readonly Member[],
): Group {
  const at = root.members.findIndex((member) => member.id === id)
  if (at !== -1) return { ...root, members: change(root.members, at) }
  const members = root.members.map((member) =>
    isGroup(member) ? changeMembers(member, id, change) : member,
  )
  return { ...root, members }
}

/** Removes empty groups, except the root. */
function pruned(root: Group): Group {
  const members = root.members
    .map((member) => (isGroup(member) ? pruned(member) : member))
    .filter((member) => !isGroup(member) || member.members.length > 0)
  return { ...root, members }
}

/** Changes a row, and drops its link to the conjunct it was read from. */
export function changeRow(root: Group, id: number, change: Partial<Row>): Group {
  return changeMembers(root, id, (members, at) => {
    const { source: _, ...row } = members[at] as Row
    return members.with(at, { ...row, ...change })
  })
}

export const removeMember = (root: Group, id: number): Group =>
  pruned(changeMembers(root, id, (members, at) => members.toSpliced(at, 1)))

export const addAfter = (root: Group, id: number, member: Member): Group =>
  changeMembers(root, id, (members, at) => members.toSpliced(at + 1, 0, member))

/** Adds a member at the end of a group. */
export function addTo(root: Group, groupId: number, member: Member): Group {
  if (root.id === groupId) return { ...root, members: [...root.members, member] }
  return changeMembers(root, groupId, (members, at) => {
    const group = members[at] as Group
    return members.with(at, { ...group, members: [...group.members, member] })
  })
}

export function toggleGroup(root: Group, id: number): Group {
  const turned = (group: Group): Group => ({
    ...group,
    combinator: group.combinator === 'and' ? 'or' : 'and',
  })
  if (root.id === id) return turned(root)
  return changeMembers(root, id, (members, at) => members.with(at, turned(members[at] as Group)))
}

/** Adds a group with the opposite combinator at the end of another group. */
export function addGroup(root: Group, within: Group, row: Row): Group {
  return addTo(root, within.id, groupOf(within.combinator === 'and' ? 'or' : 'and', [row]))
}

/**
 * Moves a member one place up or down in reading order. It moves past a row, into an adjacent group,
 * or out of its own group if it is at the end of that group.
 */
export function moveMember(root: Group, id: number, step: 1 | -1): Group {
  const parent = parentOf(root, id)
  if (!parent) return root
  const at = parent.members.findIndex((member) => member.id === id)
  const member = parent.members[at]!
  const beside = parent.members[at + step]
  if (!beside) {
    if (parent === root) return root
    const without = changeMembers(root, id, (members, at) => members.toSpliced(at, 1))
    return pruned(
      changeMembers(without, parent.id, (members, at) =>
        members.toSpliced(step === 1 ? at + 1 : at, 0, member),
      ),
    )
  }
  const without = changeMembers(root, id, (members, at) => members.toSpliced(at, 1))
  return changeMembers(without, beside.id, (members, at) => {
    if (!isGroup(beside)) return members.toSpliced(step === 1 ? at + 1 : at, 0, member)
    const inner = step === 1 ? [member, ...beside.members] : [...beside.members, member]
    return members.with(at, { ...beside, members: inner })
  })
}

function parentOf(group: Group, id: number): Group | undefined {
  if (group.members.some((member) => member.id === id)) return group
  for (const member of group.members) {
    const found = isGroup(member) ? parentOf(member, id) : undefined
    if (found) return found
  }
  return undefined
}

/** All rows, in reading order. */
export const rowsOf = (group: Group): readonly Row[] =>
  group.members.flatMap((member) => (isGroup(member) ? rowsOf(member) : [member]))
