//! Names that people take for each other.
//!
//! Names are ASCII, so what is left of look-alikes is small, and listed here: letter case, `0` and `O`, `1`, `l` and a
//! capital `I`, `rn` and `m`, `vv` and `w`, and what stands between words or does not. Two names with one skeleton are
//! told apart by programs and not by people; a typo of one leads to whoever owns the other.

/// What is left of a name once everything that looks alike is the same.
pub fn skeleton(name: &str) -> String {
    let mut skeleton = String::with_capacity(name.len());
    for character in name.chars() {
        let alike = match character {
            '-' | '_' | '.' => continue,
            '0' => 'o',
            '1' | 'I' => 'l',
            other => other.to_ascii_lowercase(),
        };
        let before = skeleton.chars().next_back();
        match (before, alike) {
            (Some('r'), 'n') => {
                skeleton.pop();
                skeleton.push('m');
            }
            (Some('v'), 'v') => {
                skeleton.pop();
                skeleton.push('w');
            }
            _ => skeleton.push(alike),
        }
    }
    skeleton
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_have_one_skeleton() {
        for (one, other) in [
            ("redis", "Redis"),
            ("nginx", "ng-inx"),
            ("post_gres", "postgres"),
            ("kube.dns", "kube-dns"),
            ("vault", "vau1t"),
            ("vault", "vauIt"),
            ("mongo", "m0ng0"),
            ("memcached", "rnerncached"),
            ("web", "vveb"),
        ] {
            assert_eq!(skeleton(one), skeleton(other), "{one} {other}");
        }
        for (one, other) in
            [("redis", "redit"), ("mail", "mall"), ("app1", "app2"), ("redis", "redis-ha"), ("v", "w")]
        {
            assert_ne!(skeleton(one), skeleton(other), "{one} {other}");
        }
    }
}
