import { project, showProject } from "../api/client"
import type { ProjectsDocument } from "../api/types"
import { useRead } from "../api/use-read"
import { Inert, inertText } from "../parts/inert"
import { usePicture } from "../store/picture"

/** The projects of this server. They change only when it is started again. */
export function useProjects(): ProjectsDocument["projects"] {
  const opening = usePicture(state => state.link === "opening" || state.link === "denied")
  const round = usePicture(state => state.round)
  const { data } = useRead<ProjectsDocument>(opening ? null : "/api/projects", round, true)
  return data?.projects ?? []
}

/** The name of the project; where the server has several, the way to the others. */
export function ProjectName() {
  const name = usePicture(state => state.project)
  const projects = useProjects()
  if (projects.length < 2)
    return (
      <b className="semi cut">
        <Inert text={name || "Interlock"} links={false} />
      </b>
    )
  return (
    <select
      aria-label="Project"
      title="Another project of this server"
      value={name || project()}
      onChange={event => showProject(event.target.value)}
    >
      {projects.map(each => (
        <option key={each.name} value={each.name}>
          {inertText(each.name, 60)}
          {each.name !== name && each.needs_you > 0 ? ` (${each.needs_you} need you)` : ""}
          {each.name !== name && each.live ? ", live" : ""}
        </option>
      ))}
    </select>
  )
}
