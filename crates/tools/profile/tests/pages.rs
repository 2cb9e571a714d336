//! Profiles as people see them.

use ::profile::{
    compare_profiles, flame, folded, profile, profile_comparison, profile_document, svg,
};
use observations::{Frame, Profile, Stack};
use report::{Style, terminal};

fn sample(copies: u64) -> Profile {
    let frame =
        |function: &str, module, kernel| Frame { function: function.into(), module, kernel };
    Profile {
        target: "pid 7 (db\u{1b}[31m)".into(),
        elapsed_s: 10.0,
        hz: 100.0,
        threads: 2,
        lost: 3,
        profiler_cpu_s: 0.005,
        modules: vec!["/bin/db".into(), "[kernel]".into()],
        frames: vec![
            frame("main", 0, false),
            frame("Vec<T>::push; <b>\u{1b}", 0, false),
            frame("vfs_read", 1, true),
        ],
        stacks: vec![
            Stack { frames: vec![0, 1], samples: 600 },
            Stack { frames: vec![0, 1, 2], samples: copies },
        ],
        missing: vec!["Something is missing.".into()],
    }
}

#[test]
fn a_profile_says_how_much_where_how_sure_and_what_is_missing() {
    let text = terminal(&profile_document(&profile(&sample(200))), 120, Style::Plain);
    for part in [
        "8.00 s of CPU samples in 10.0 s: 800 samples of 2 threads, 25.0 % in the kernel.",
        "after every 10.0 ms",
        "of CPU time (0.06 % of the sampled time)",
        "3 records lost (buffer full)",
        "By module",
        "By function",
        // Wilson's interval of 200 of 800.
        "22.1 to 28.1 %",
        "vfs_read",
        "< Vec<T>::push; <b>\\u{1b} < main",
        "Something is missing.",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
    let empty = Profile { stacks: Vec::new(), ..sample(1) };
    let text = terminal(&profile_document(&profile(&empty)), 120, Style::Plain);
    assert!(text.contains("No samples in 10.0 s"), "{text}");
}

#[test]
fn a_comparison_says_what_changed_and_what_may_be_chance() {
    let compared = compare_profiles(&sample(200), &sample(500));
    let text = terminal(&profile_comparison(&compared, "a.json", "b.json"), 160, Style::Plain);
    let row =
        |name: &str| text.lines().find(|line| line.contains(name)).unwrap_or_default().to_owned();
    let kernel = row("[kernel]");
    assert!(kernel.contains("+3.00 [2.48, 3.52] s") && kernel.contains("time, share"), "{text}");
    let push = row("Vec<T>::push");
    assert!(push.contains("0.00 [-0.68, 0.68] s") && push.contains(" share "), "{text}");
    assert!(text.contains("Total: +3.00 s."), "{text}");
}

#[test]
fn folded_stacks_are_what_flame_graph_tools_read() {
    assert_eq!(
        folded(&sample(200)),
        "main;Vec<T>::push: <b>\\u{1b} 600\nmain;Vec<T>::push: <b>\\u{1b};vfs_read_[k] 200\n"
    );
}

#[test]
fn a_flame_graph_is_drawn_to_scale_without_markup_from_names() {
    let picture = svg(&flame(&sample(200)));
    assert!(picture.contains("viewBox=\"0 0 1200 72\""), "{picture}");
    assert!(picture.contains("x=\"0.00\" y=\"54\" width=\"300.00\""), "{picture}");
    assert!(
        picture.contains("vfs_read ([kernel]): 25.0 %, 200 samples, 200 in itself"),
        "{picture}"
    );
    assert!(
        picture.contains("Vec&lt;T&gt;::push; &lt;b&gt;\\u{1b}") && !picture.contains("<b>"),
        "{picture}"
    );
}
