/** What the person says of themselves: for whom and how they write. Steps that read it are made again when it changes. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { put } from "../api/client";
import type { ProfileShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { base, mayChange } from "../store/desk";

interface Style {
  tone?: string;
  voice?: string;
  targetWordCount?: number;
}

export function Profile() {
  const asked = useAsked<ProfileShown>(`${base.value}/profile`);
  const found = asked.found.value;
  const topics = useSignal("");
  const style = useSignal<Style>({});
  const told = useSignal("");
  const { problem, act } = useDoing();
  useEffect(() => {
    if (!found) return;
    topics.value = topicWords(found.profile.topics);
    style.value = (found.profile.style as Style | undefined) ?? {};
  }, [found]);
  if (asked.problem.value) return <section><h2 class="label">Profile</h2><Trouble problem={asked.problem.value} /></section>;
  if (!found) return null;
  const save = (event: Event): void => {
    event.preventDefault();
    told.value = "";
    void act(async () => {
      await put(`${base.value}/profile`, { profile: { ...found.profile, topics: topicsOf(topics.value), style: { ...(found.profile.style as object), ...style.value } }, if: found.hash });
      told.value = "Saved. The next run makes again what depends on it.";
      asked.again();
    });
  };
  return (
    <section aria-label="Profile">
      <h2 class="label">Profile</h2>
      <form class="parameters" onSubmit={save}>
        <div class="parameter">
          <label for="topics"><strong>Topics</strong> <span class="soft">what you care about, the interest (1 to 5) behind a colon: sea level:5, baking</span></label>
          <input id="topics" dir="auto" disabled={!mayChange.value} value={topics.value} onInput={(event) => (topics.value = event.currentTarget.value)} />
        </div>
        <div class="three">
          <label>For whom<select disabled={!mayChange.value} value={style.value.tone ?? ""} onChange={(event) => (style.value = { ...style.value, tone: event.currentTarget.value })}>{found.tones?.map((one) => <option key={one}>{one}</option>)}</select></label>
          <label>Voice<select disabled={!mayChange.value} value={style.value.voice ?? ""} onChange={(event) => (style.value = { ...style.value, voice: event.currentTarget.value })}>{found.voices?.map((one) => <option key={one}>{one}</option>)}</select></label>
          <label>Words of a piece<input type="number" disabled={!mayChange.value} min={found.least_words} max={found.most_words} value={style.value.targetWordCount ?? ""} onInput={(event) => (style.value = { ...style.value, targetWordCount: Number(event.currentTarget.value) })} /></label>
        </div>
        {mayChange.value && <div class="choices"><button>Save the profile</button><span class="soft small" role="status">{told.value}</span></div>}
        <Trouble problem={problem.value} />
      </form>
    </section>
  );
}

const MIDDLE = 3;

function topicWords(topics: unknown): string {
  return (Array.isArray(topics) ? topics : []).map((one: { topic?: string; interestLevel?: number } | string) =>
    typeof one === "string" ? one : `${one.topic ?? ""}${(one.interestLevel ?? MIDDLE) === MIDDLE ? "" : `:${one.interestLevel}`}`).join(", ");
}

function topicsOf(words: string): { topic: string; interestLevel: number }[] {
  return words.split(",").map((one) => one.trim()).filter(Boolean).map((one) => {
    const found = /^(.*\S)\s*:\s*([1-5])$/.exec(one);
    return { topic: found?.[1] ?? one, interestLevel: Number(found?.[2] ?? MIDDLE) };
  });
}
